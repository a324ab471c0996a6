import type { TaskEvent } from "@parley/sdk/tasks";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { locale } from "../../language.ts";
import styles from "../console.module.css";
import { Section } from "../parts.tsx";
import { useStream } from "../relay/api.ts";
import { Block } from "../relay/parts.tsx";
import relayStyles from "../relay/relay.module.css";
import { taskPath } from "./api.ts";
import { eventText, text } from "./text.ts";
import taskStyles from "./tasks.module.css";

/** The number of the newest entries that are kept on the page. */
const MOST_ENTRIES = 1000;
/** Entries that come close together are shown together. */
const GATHER_MS = 100;
/** This close to the end counts as at the end. */
const NEAR_PX = 48;

const clock = new Intl.DateTimeFormat(locale, { dateStyle: "short", timeStyle: "medium" });

/**
 * The events of a task, as they happen. The log stays at its end while somebody looks there. It stands still where they
 * read something else, or have paused it.
 */
export function TaskLog({ repo, id }: { repo: string; id: string }) {
  const { entries, waiting, isPaused, pause, goOn } = useEntries(repo, id);
  const box = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  useLayoutEffect(() => {
    if (isAtEnd && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [entries]);
  const toEnd = (): void => {
    setAtEnd(true);
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  return (
    <Section title={text.log.title}>
      <div class={styles.actions}>
        <button type="button" onClick={isPaused ? goOn : pause} aria-pressed={isPaused}>
          {isPaused ? text.log.resume(waiting) : text.log.pause}
        </button>
        {!isAtEnd && (
          <button type="button" class="quiet" onClick={toEnd}>
            {text.log.toEnd}
          </button>
        )}
      </div>
      {entries.length === 0 && <p class="muted">{text.log.empty}</p>}
      {entries.length >= MOST_ENTRIES && <p class="small muted">{text.log.cut(MOST_ENTRIES)}</p>}
      <div
        ref={box}
        class={taskStyles.log}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={text.log.title}
        hidden={entries.length === 0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) =>
          setAtEnd(scrollHeight - scrollTop - clientHeight < NEAR_PX)
        }
      >
        <ol>
          {entries.map((event, at) => (
            <Entry key={event.seq} event={event} isNewAttempt={event.attempt !== entries[at - 1]?.attempt} />
          ))}
        </ol>
      </div>
    </Section>
  );
}

function useEntries(repo: string, id: string) {
  const [entries, setEntries] = useState<readonly TaskEvent[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [isPaused, setPaused] = useState(false);
  const held = useRef<TaskEvent[]>([]);
  const due = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(isPaused);
  latest.current = isPaused;

  const show = (): void => {
    const fresh = held.current;
    held.current = [];
    setWaiting(0);
    if (fresh.length === 0) return;
    setEntries((known) => {
      const newest = known.at(-1)?.seq ?? 0;
      return [...known, ...fresh.filter(({ seq }) => seq > newest)].slice(-MOST_ENTRIES);
    });
  };
  useStream(`${taskPath(repo, id)}/log`, {
    onEvent(_type, data) {
      // The log was cut: what is shown does not lead up to what comes.
      if ((data as { reset?: true }).reset) {
        held.current = [];
        return setEntries([]);
      }
      held.current = [...held.current.slice(1 - MOST_ENTRIES), data as TaskEvent];
      due.current ??= setTimeout(() => {
        due.current = undefined;
        if (latest.current) setWaiting(held.current.length);
        else show();
      }, GATHER_MS);
    },
  });
  useEffect(() => () => clearTimeout(due.current), []);
  const goOn = (): void => {
    setPaused(false);
    show();
  };
  return { entries, waiting, isPaused, pause: () => setPaused(true), goOn };
}

function Entry({ event, isNewAttempt }: { event: TaskEvent; isNewAttempt: boolean }) {
  const says = eventText(event);
  const isCode = event.type === "diff";
  return (
    <li class={taskStyles.entry} data-type={event.type} data-failed={event["isError"] === true || undefined}>
      {isNewAttempt && event.attempt > 0 && <p class={taskStyles.attempt}>{text.attempt(event.attempt)}</p>}
      <p class={taskStyles.stamp}>
        <span class={taskStyles.kind}>{text.log.kind(event.type)}</span>
        <time dateTime={event.at}>{clock.format(new Date(event.at))}</time>
      </p>
      {says !== "" && (
        <p class={isCode ? taskStyles.code : taskStyles.words} dir={isCode ? "ltr" : "auto"}>
          {says}
        </p>
      )}
      <Whole label={text.log.given} value={event["input"]} />
      <Whole label={text.log.result} value={event["result"]} />
    </li>
  );
}

/** The whole input or output of a tool, for somebody who opens it. */
function Whole({ label, value }: { label: string; value: unknown }) {
  if (value === undefined || value === null || value === "") return null;
  return (
    <details class={relayStyles.more}>
      <summary>{label}</summary>
      <Block label={label} words={typeof value === "string" ? value : JSON.stringify(value, null, 2)} />
    </details>
  );
}
