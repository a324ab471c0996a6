import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Command, onScreen, press } from "../keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { useLocation } from "../router.tsx";
import { named, shortcuts } from "../settings.ts";
import { text as appText } from "../text.ts";
import { actionsNow, isStill, keyCap } from "./actions.ts";
import styles from "./keys-dialog.module.css";
import { matching } from "./matching.ts";
import { text } from "./text.ts";

/** More of them are found by another word. */
const MOST = 50;

const PLACES = [
  { href: "/", name: "answer", forWhom: ["no", "yes", "admin"] },
  { href: "/inbox", name: "inbox", forWhom: ["yes", "admin"] },
  { href: "/console", name: "run", forWhom: ["admin"] },
  { href: "/me", name: "you", forWhom: ["no", "yes", "admin"] },
] as const;

interface Line {
  name: string;
  /** The key that does the same. */
  cap?: string;
  act: () => void;
}

/** All that can be done on this screen, found by words: its actions, its requests, its filters, and the other places. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog title={text.actions.palette} open={open} onClose={onClose}>
      <Search onClose={onClose} />
    </Dialog>
  );
}

/** The field keeps the focus, and names the line of the list that `Enter` would run. */
function Search({ onClose }: { onClose: () => void }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, type] = useState("");
  const [at, setAt] = useState(0);
  const lines = matching(useLines(), typed).slice(0, MOST);
  const current = Math.min(at, lines.length - 1);
  useEffect(() => field.current?.focus(), []);

  /** The dialog gives the focus back first: an action may be about the thing that has it. */
  const run = (line: Line | undefined): void => {
    if (!line) return;
    field.current?.closest("dialog")?.close();
    onClose();
    line.act();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    const isOpener = (event.ctrlKey || event.metaKey) && key === "k";
    if (event.isComposing || !(isOpener || key === "Enter" || key === "ArrowDown" || key === "ArrowUp")) return;
    event.preventDefault();
    if (isOpener) return onClose();
    if (key !== "Enter") setAt((current + (key === "ArrowDown" ? 1 : lines.length - 1)) % Math.max(1, lines.length));
    else if (!event.repeat) run(lines[current]);
  };
  return (
    <>
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label={text.find}
        placeholder={text.find}
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={id}
        aria-activedescendant={current < 0 ? undefined : optionId(id, current)}
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={({ currentTarget: { value } }) => {
          type(value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Lines id={id} lines={lines} current={current} onRun={run} />
      <p class="muted small" role="status">
        {text.found(lines.length)}
      </p>
    </>
  );
}

const optionId = (list: string, index: number): string => `${list}-${index}`;

function Lines(props: { id: string; lines: readonly Line[]; current: number; onRun: (line: Line) => void }) {
  const { id, lines, current, onRun } = props;
  useLayoutEffect(() => document.getElementById(optionId(id, current))?.scrollIntoView({ block: "nearest" }));
  return (
    <ul id={id} role="listbox" aria-label={text.actions.palette} class={styles.lines}>
      {lines.map((line, index) => (
        <li
          key={index}
          id={optionId(id, index)}
          role="option"
          aria-selected={index === current}
          aria-keyshortcuts={line.cap}
          onClick={() => onRun(line)}
        >
          <span dir="auto">{line.name}</span>
          {line.cap !== undefined && <kbd aria-hidden="true">{line.cap}</kbd>}
        </li>
      ))}
    </ul>
  );
}

/** In order: actions, requests, filters and places. */
function useLines(): Line[] {
  const who = named.use();
  const [, go] = useLocation();
  const hasKeys = shortcuts.use() === "on";
  const actions = actionsNow()
    // A digit alone says too little, and the palette is open.
    .filter(({ name }) => name !== "choose" && name !== "palette")
    .map((action): Line => {
      const act = (): void => {
        if (isStill(action)) press(action.key);
      };
      return { name: text.actions[action.name], ...(hasKeys && { cap: keyCap(action.key) }), act };
    });
  const commands = onScreen.flatMap((shown) => shown?.[1]?.commands?.() ?? []);
  const lineOf = ({ kind, name, act }: Command): Line => ({ name: text.commands[kind](name), act });
  return [
    ...actions,
    ...commands.filter(({ kind }) => kind === "open").map(lineOf),
    ...commands.filter(({ kind }) => kind === "show").map(lineOf),
    ...PLACES.filter(({ forWhom }) => (forWhom as readonly string[]).includes(who)).map(({ href, name }) => ({
      name: text.commands.go(appText.nav[name]),
      act: () => go(href),
    })),
  ];
}
