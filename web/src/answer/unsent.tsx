import type { ComponentChildren } from "preact";
import { Link, useLocation } from "wouter";
import { keepDraft } from "../drafts.ts";
import { trySending } from "../live.ts";
import { discard, type Written } from "../outbox.ts";
import { copy } from "../parts/copyable.tsx";
import { Kept } from "../parts/notice.tsx";
import { useWritten } from "../queries.ts";
import { text } from "../text.ts";
import styles from "./unsent.module.css";

/** Above the list: what this device has written and the server does not have. */
export function Unsent() {
  const written = useWritten().filter((one) => one.state !== "sent");
  if (written.length === 0) return null;
  const waiting = written.filter((one) => one.state === "waiting").length;
  const refused = written.length - waiting;
  return (
    <section class={styles.unsent}>
      {waiting > 0 && <p>{text.waiting.list(waiting)}</p>}
      {refused > 0 && <p>{text.waiting.refusedList(refused)}</p>}
      <ul>
        {written.map(({ key, answer, question }) => (
          <li key={key}>
            <Link href={`/q/${answer.question_id}`}>{question.prompt}</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The words of an answer, or the option it takes. */
function wordsOf({ answer, question }: Written): string {
  return answer.answer ?? question.options?.[answer.selected_option ?? -1] ?? "";
}

export function Waiting({ written, nextStep }: { written: Written; nextStep: ComponentChildren }) {
  const pauseMs = (written.notBefore ?? 0) - Date.now();
  const isSignedOut = written.refusal?.code === "PERSON_CHANGED";
  const limited = pauseMs > 0 && written.refusal?.code === "RATE_LIMITED";
  return (
    <Unfinished
      written={written}
      title={text.waiting.title}
      hint={isSignedOut ? text.waiting.signedOut : limited ? text.waiting.limited(pauseMs) : text.waiting.hint}
    >
      {nextStep}
      {!limited && (
        <button type="button" onClick={() => void trySending()}>
          {text.waiting.sendNow}
        </button>
      )}
    </Unfinished>
  );
}

export function Refused({ written, nextStep }: { written: Written; nextStep: ComponentChildren }) {
  const [, go] = useLocation();
  const { code = "", message = "" } = written.refusal ?? {};
  const mayChange = code === "VALIDATION_ERROR" || code === "UNAUTHORIZED";
  const words = wordsOf(written);

  const drop = (): Promise<void> => discard(written.key);
  return (
    <Unfinished written={written} title={text.waiting.refused} hint={text.waiting.reasons[code] ?? message}>
      {mayChange ? (
        <button
          type="button"
          class="primary"
          onClick={() => {
            keepDraft(written.answer.question_id, written.answer);
            void drop();
          }}
        >
          {text.waiting.edit}
        </button>
      ) : (
        nextStep
      )}
      <button type="button" onClick={() => void copy(words)}>
        {text.copy}
      </button>
      <button type="button" class="quiet" onClick={() => void drop().then(() => go("/"))}>
        {text.waiting.discard}
      </button>
    </Unfinished>
  );
}

function Unfinished(props: { written: Written; title: string; hint: string; children: ComponentChildren }) {
  const { written, title, hint, children } = props;
  return (
    <section class={styles.unfinished}>
      <h1 dir="auto">{written.question.prompt}</h1>
      <Kept label={text.question.yourAnswer} words={wordsOf(written)} />
      <div class={styles.state} role="status">
        <h2>{title}</h2>
        <p>{hint}</p>
      </div>
      <div class={styles.steps}>{children}</div>
    </section>
  );
}
