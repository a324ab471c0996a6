import type { AgentNote } from "@parley/sdk/inbox";
import styles from "../inbox/ask-back.module.css";
import { moment } from "../moment.ts";
import { text } from "./text.ts";

/** The notes of people to an agent at work, each with its author and whether the agent has got it. */
export function NoteThread({ notes }: { notes: readonly AgentNote[] }) {
  return (
    <section class={styles.thread} role="log" aria-label={text.thread}>
      {notes.map((note) => (
        <dl key={note.id}>
          <dt class="muted">
            {text.wrote(note.mine ? null : note.name)} · <time dateTime={note.at}>{moment(note.at)}</time>
          </dt>
          <dd dir="auto">{note.text}</dd>
          <dd class="muted">{note.given_at === null ? text.waits : text.given(moment(note.given_at))}</dd>
        </dl>
      ))}
    </section>
  );
}
