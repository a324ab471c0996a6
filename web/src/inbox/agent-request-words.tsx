import { DiffLines } from "./arguments/diff-lines.tsx";
import { Words } from "./parts.tsx";
import { later } from "../parts/later.tsx";
import { Emphasised } from "../parts/prose.tsx";
import styles from "./agent-request-words.module.css";
import { text } from "./text.ts";
import type { DiffLine, WholeAsk } from "./wire.ts";

/** Before what a write would change, in the words around what is approved. */
const CHANGE = "\n\nWhat would change:\n";
/** The sentences about the task, which stand here in their own words. */
const WHOSE = /^For task .*$/m;

const Thread = later(async () => (await import("./ask-back.tsx")).Inquiries);

/** The questions to the agent of an ask, where there are any. */
export const Inquiries = ({ ask }: { ask: WholeAsk }) => ask.inquiries.length > 0 && <Thread ask={ask} />;

const Notes = later(async () => (await import("../agent-notes/thread.tsx")).NoteThread);

/** The agent's words about a call; of a coding agent also its task, how it is kept apart, and what it would change. */
export function AgentRequestWords({ ask }: { ask: WholeAsk }) {
  return (
    <>
      {ask.task?.about === "wish" ? <WishWords ask={ask} task={ask.task} /> : <Words ask={ask} />}
      <Inquiries ask={ask} />
      {ask.notes !== null && ask.notes.length > 0 && <Notes notes={ask.notes} />}
    </>
  );
}

function WishWords({ ask, task }: { ask: WholeAsk; task: NonNullable<WholeAsk["task"]> }) {
  const { words } = ask;
  const [intro = "", ...changes] = words.split(CHANGE);
  return (
    <>
      <section class={styles.task} aria-label={text.task.about}>
        {intro
          .replace(WHOSE, "")
          .split(/\n{2,}/)
          .map(
            (part, at) =>
              part.trim() !== "" && (
                <p key={at} dir="auto">
                  <Emphasised words={part} />
                </p>
              ),
          )}
        <p class="muted">{text.task.of(task.id, task.repo, task.agent ?? ask.agent)}</p>
        {task.sandbox && (
          <p class={styles.sandbox} data-sandbox={task.sandbox}>
            {text.task.sandbox[task.sandbox]}
          </p>
        )}
      </section>
      {changes.length > 0 && <Change change={changes.join(CHANGE)} />}
    </>
  );
}

function Change({ change }: { change: string }) {
  const lines = change.split("\n").map((line) => ({ sign: signOf(line), text: line }));
  return (
    <section class={styles.change}>
      <h2>{text.task.change}</h2>
      <DiffLines lines={lines} label={text.task.change} />
    </section>
  );
}

function signOf(line: string): DiffLine["sign"] {
  if (/^(\+\+\+|---|@@) /.test(line)) return "@";
  return line.startsWith("+") ? "+" : line.startsWith("-") ? "-" : " ";
}
