import type { FeedItem } from "@parley/sdk/wire";
import type { ComponentChildren } from "preact";
import { useLocation } from "../router.tsx";
import { keepDraft } from "../drafts.ts";
import { trySending } from "../live.ts";
import { discard, type Written } from "../outbox.ts";
import { copy } from "../parts/copyable.tsx";
import { Kept } from "../parts/notice.tsx";
import { text } from "../text.ts";
import { text as answerText } from "./text.ts";
import { NextStep } from "./next-step.tsx";
import { Prompt } from "./prompt.tsx";
import styles from "./unsent.module.css";

/** The words of an answer, or the option it takes. */
function wordsOf({ answer, question }: Written): string {
  return answer.answer ?? question.options?.[answer.selected_option ?? -1] ?? "";
}

/** An answer that is not sent yet. */
export function Waiting({ written, next }: { written: Written; next: FeedItem | undefined }) {
  const pauseMs = (written.notBefore ?? 0) - Date.now();
  const isSignedOut = written.refusal?.code === "PERSON_CHANGED";
  const limited = pauseMs > 0 && written.refusal?.code === "RATE_LIMITED";
  return (
    <Unfinished
      written={written}
      title={answerText.waiting.title}
      hint={
        isSignedOut
          ? answerText.waiting.signedOut
          : limited
            ? answerText.waiting.limited(pauseMs)
            : answerText.waiting.hint
      }
      next={next}
    >
      {!limited && (
        <button type="button" onClick={() => void trySending()}>
          {answerText.waiting.sendNow}
        </button>
      )}
    </Unfinished>
  );
}

/** An answer that the server refused: why, and its words. */
export function Refused({ written, next }: { written: Written; next: FeedItem | undefined }) {
  const [, go] = useLocation();
  const { code = "", message = "" } = written.refusal ?? {};
  const mayChange = code === "VALIDATION_ERROR" || code === "UNAUTHORIZED";
  const words = wordsOf(written);

  const drop = (): Promise<void> => discard(written.key);
  return (
    <Unfinished
      written={written}
      title={answerText.waiting.refused}
      hint={answerText.waiting.reasons[code] ?? message}
      next={next}
    >
      {mayChange && (
        <button
          type="button"
          class="primary"
          onClick={() => {
            keepDraft(written.answer.question_id, written.answer);
            void drop();
          }}
        >
          {answerText.waiting.edit}
        </button>
      )}
      <button type="button" onClick={() => void copy(words)}>
        {text.copy}
      </button>
      <button type="button" class="quiet" onClick={() => void drop().then(() => go("/"))}>
        {answerText.waiting.discard}
      </button>
    </Unfinished>
  );
}

function Unfinished(props: {
  written: Written;
  title: string;
  hint: string;
  next: FeedItem | undefined;
  children: ComponentChildren;
}) {
  const { written, title, hint, next, children } = props;
  return (
    <section class={styles.unfinished}>
      <Prompt words={written.question.prompt} />
      <Kept label={text.question.yourAnswer} words={wordsOf(written)} />
      <div class={styles.state} role="status">
        <h2>{title}</h2>
        <p dir="auto">{hint}</p>
      </div>
      <div class={styles.steps}>{children}</div>
      <NextStep next={next} />
    </section>
  );
}
