import { useEffect, useRef, useState } from "preact/hooks";
import { ParleyError } from "@parley/sdk/errors";
import { announce } from "../parts/announcer.tsx";
import { Loading } from "../parts/notice.tsx";
import styles from "./console.module.css";
import { ActionButton, Problem, Section, SelectField, ServerSays, TextField, useAction } from "./parts.tsx";
import * as api from "./relay/api.ts";
import { Block } from "./relay/parts.tsx";
import { text } from "./relay/text.ts";
import type { PolicyFile, RulePreviewed } from "./relay/wire.ts";

const WEEK_S = 7 * 86_400;
const NEW_RULE = "id: \nwhen: { fn:  }\ndecision: ESCALATE\nreason: \n";

/** A rule that is edited: one of the file, or a new one. */
interface Edited {
  place: number;
  isNew: boolean;
}

/** A change as the server showed it. */
interface Shown {
  change: { from: string; do: "replace" | "add" | "remove"; place: number; rule?: string };
  by: RulePreviewed;
}

/** Edits the rules of the policy file, one at a time: each change is shown before it is saved. */
export function RuleEditor() {
  const { data: file, error } = api.usePolicyFile();
  const [edited, setEdited] = useState<Edited | null>(null);
  if (!file) return error ? <Problem error={error} /> : <Loading rows={2} />;
  return (
    <Section title={text.edit.title}>
      {file.fixed === null ? <p class="muted">{text.edit.hint}</p> : <Fixed file={file} />}
      {edited !== null && <Form file={file} edited={edited} onDone={() => setEdited(null)} />}
      {edited === null && file.fixed === null && (
        <div class={styles.actions}>
          <button type="button" class="primary" onClick={() => setEdited({ place: file.rules.length, isNew: true })}>
            {text.edit.add}
          </button>
          {file.rules.map((rule, place) => (
            <button key={place} type="button" onClick={() => setEdited({ place, isNew: false })}>
              <bdi>{text.edit.edit(nameOf(rule, place))}</bdi>
            </button>
          ))}
        </div>
      )}
    </Section>
  );
}

function Fixed({ file: { fixed, servers, path } }: { file: PolicyFile }) {
  return (
    <>
      <p class={styles.alarm}>{fixed !== null && text.edit.fixed[fixed]}</p>
      <ul>
        {(fixed === "other_servers" ? servers : [path]).map((one) => (
          <li key={one}>
            <bdi>{one}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}

function Save({ action }: { action: Parameters<typeof ActionButton>[0]["action"] }) {
  return (
    <div class={styles.actions}>
      <ActionButton action={action} label={text.edit.save} kind="primary" />
    </div>
  );
}

/** The words of a rule stay until the change is saved or left, whatever the server says. */
function Form({ file, edited, onDone }: { file: PolicyFile; edited: Edited; onDone: () => void }) {
  const [words, setWords] = useState(edited.isNew ? NEW_RULE : (file.rules[edited.place] ?? ""));
  const [place, setPlace] = useState(String(edited.place));
  const [from, setFrom] = useState(file.digest);
  const [name] = useState(() => nameOf(file.rules[edited.place] ?? "", edited.place));
  const [shown, setShown] = useState<Shown | null>(null);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => top.current?.querySelector("textarea")?.focus(), []);
  const show = useAction(async (kind: "edit" | "remove") => {
    setShown(null);
    const about = { from, place: Number(place) };
    const change =
      kind === "remove"
        ? { ...about, do: "remove" as const }
        : { ...about, do: edited.isNew ? ("add" as const) : ("replace" as const), rule: words };
    setShown({ change, by: await api.previewRule({ ...change, since_s: WEEK_S }) });
  });
  const save = useAction(async () => {
    if (!shown) return;
    const { rule } = await api.saveRule({ ...shown.change, shown: shown.by.shown });
    announce(text.edit.saved(rule));
    await api.refreshRelay("policy");
    onDone();
  });
  const error = save.error ?? show.error;
  const isMoved = error instanceof ParleyError && error.code === "POLICY_FILE_CHANGED";
  useEffect(() => {
    if (isMoved) void api.refreshRelay("policy", "file");
  }, [isMoved]);
  if (isMoved && from !== file.digest) {
    // A new rule fits into any file; one of the file may stand elsewhere in the new one, or have gone.
    const at = edited.isNew ? Number(place) : file.rules.findIndex((rule, i) => nameOf(rule, i) === name);
    if (at >= 0) {
      setFrom(file.digest);
      setPlace(String(at));
    }
  }
  return (
    <div ref={top}>
      <form onSubmit={(event) => (event.preventDefault(), void show.run("edit"))}>
        <Wrong error={error} isMoved={isMoved} />
        {edited.isNew && <Place file={file} value={place} onChoose={(value) => (setShown(null), setPlace(value))} />}
        <TextField
          label={text.edit.rule}
          hint={text.edit.ruleHint}
          value={words}
          rows={8}
          onInput={(value) => (setShown(null), setWords(value))}
        />
        <Buttons isNew={edited.isNew} show={show} onDone={onDone} />
      </form>
      <div role="status">{shown && <Change by={shown.by} />}</div>
      {shown && <Save action={{ ...save, error: null }} />}
    </div>
  );
}

function Place({ file, value, onChoose }: { file: PolicyFile; value: string; onChoose: (value: string) => void }) {
  return (
    <SelectField
      label={text.edit.place}
      value={value}
      options={[
        ...file.rules.map((rule, at) => ({ value: String(at), label: text.edit.before(nameOf(rule, at)) })),
        { value: String(file.rules.length), label: text.edit.last },
      ]}
      onChoose={onChoose}
    />
  );
}

function Buttons(props: {
  isNew: boolean;
  show: { isBusy: boolean; run(kind: "edit" | "remove"): Promise<void> };
  onDone: () => void;
}) {
  const { isNew, show, onDone } = props;
  return (
    <div class={styles.actions}>
      <button type="submit" class="primary" aria-disabled={show.isBusy}>
        {show.isBusy ? text.replay.looking : text.edit.preview}
      </button>
      {!isNew && (
        <button type="button" aria-disabled={show.isBusy} onClick={() => void show.run("remove")}>
          {text.edit.remove}
        </button>
      )}
      <button type="button" class="quiet" onClick={onDone}>
        {text.edit.back}
      </button>
    </div>
  );
}

function Change({ by }: { by: RulePreviewed }) {
  return (
    <>
      <Block label={text.edit.change} words={by.diff} />
      <p>
        {text.edit.past} {text.replay.counts(by.before)}
      </p>
      <p>
        <b>
          {text.edit.after} {text.replay.counts(by.after)}
        </b>
      </p>
    </>
  );
}

/** The mistakes that the server found, each with its member; focused, so that they are read first. */
function Wrong({ error, isMoved }: { error: unknown; isMoved: boolean }) {
  const found = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) found.current?.focus();
  }, [error]);
  if (!error) return null;
  return (
    <div ref={found} tabIndex={-1} role="alert" class={styles.alarm}>
      <p>{isMoved ? text.edit.moved : text.edit.wrong}</p>
      {!isMoved && (
        <p>
          <ServerSays words={error instanceof Error ? error.message : String(error)} />
        </p>
      )}
    </div>
  );
}

function nameOf(rule: string, place: number): string {
  return /(?:^|[\s{,])id:\s*["']?([\w.-]+)/.exec(rule)?.[1] ?? `rules[${place}]`;
}
