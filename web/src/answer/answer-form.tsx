import { newKey } from "@parley/sdk/idempotency-key";
import type { FeedItem, HumanQuestion } from "@parley/sdk/wire";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "wouter";
import { people } from "../api.ts";
import { deviceName } from "../device.ts";
import { type Draft, dropDraft, keepDraft, readDraft } from "../drafts.ts";
import { hasKeyboard, useKeys } from "../keys.ts";
import { sendLater } from "../live.ts";
import { submit } from "../outbox.ts";
import { announce } from "../parts/announcer.tsx";
import { TimeLeft, useServerNow } from "../parts/time-left.tsx";
import { type ListedPage, queries, refreshFigures } from "../queries.ts";
import { text } from "../text.ts";
import styles from "./answer-form.module.css";
import { Confidence } from "./confidence.tsx";
import { ReportDialog } from "./report-dialog.tsx";

const MAX_CHARACTERS = 5000;

/** The question and the way to answer it. */
export function AnswerForm(props: { question: HumanQuestion; next: FeedItem | undefined; onTimeUp: () => void }) {
  const { question, next, onTimeUp } = props;
  const id = question.question_id;
  const [draft, setDraft] = useState<Draft>(() => readDraft(id));
  const [sending, setSending] = useState(false);
  const [reporting, setReporting] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const [, go] = useLocation();

  const change = (part: Draft): void => {
    const changed = { ...draft, ...part };
    setDraft(changed);
    keepDraft(id, changed);
  };

  const timeIsUp = useServerNow(Date.parse(question.expires_at)) >= Date.parse(question.expires_at);
  useEffect(() => {
    if (timeIsUp) onTimeUp();
  }, [timeIsUp]);

  const send = async (): Promise<void> => {
    const answer = { question_id: id, ...chosen(question, draft) };
    if (answer.answer === undefined && answer.selected_option === undefined) {
      form.current?.querySelector("textarea")?.focus();
      return announce(question.type === "text" ? text.question.writeFirst : text.question.chooseFirst);
    }
    if (sending) return;
    setSending(true);
    const { prompt, type, options } = question;
    const asked = { prompt, type, ...(options ? { options } : {}) };
    const isSent = await submit({
      key: newKey(),
      answer,
      question: asked,
      device: deviceName(),
    });
    dropDraft(id);
    if (!isSent) void sendLater();
  };

  /** Out of the list at once; the server hears of it if it can. */
  const leave = (words: string): void => {
    queries.setQueriesData<ListedPage>({ queryKey: ["feed"] }, (page) => {
      return (
        page && {
          ...page,
          questions: page.questions.filter((one) => one.question_id !== id),
        }
      );
    });
    announce(words);
    go(next ? `/q/${next.question_id}` : "/");
  };
  const skip = (): void => {
    leave(text.question.skipped);
    people.skip(id).then(
      () => refreshFigures("rest"),
      () => {},
    );
  };

  useKeys({
    ...Object.fromEntries(
      (question.options ?? []).map((_, index) => [numberKey(index), () => change({ selected_option: index })]),
    ),
    Enter: () => form.current?.requestSubmit(),
  });

  return (
    <form
      ref={form}
      class={styles.form}
      aria-busy={sending}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <header class={styles.header}>
        <p class={styles.facts}>
          <span>{text.feed.needed(question.responses_needed)}</span>
          <TimeLeft until={question.expires_at} />
          <span>{question.audience.map((tag) => text.audience[tag]).join(", ")}</span>
        </p>
        <h1>{question.prompt}</h1>
      </header>

      {question.type === "text" ? (
        <Words value={draft.answer ?? ""} onChange={(answer) => change({ answer })} onSend={() => void send()} />
      ) : (
        <Options
          options={question.options ?? []}
          value={draft.selected_option}
          onChoose={(selected_option) => change({ selected_option })}
        />
      )}
      <Confidence value={draft.confidence} onChange={(confidence) => change({ confidence })} />
      <p class={styles.machine}>{text.question.machine}</p>

      <div class={styles.bar}>
        <button type="button" class="quiet" onClick={skip}>
          {text.question.skip}
        </button>
        <button type="button" class="quiet" onClick={() => setReporting(true)}>
          {text.question.report}
        </button>
        <button type="submit" class="primary">
          {sending ? text.question.sending : text.question.send}
          <span class={styles.points} aria-hidden="true">
            {text.feed.points(question.points)}
          </span>
        </button>
      </div>
      <ReportDialog
        questionId={id}
        open={reporting}
        onClose={() => setReporting(false)}
        onReported={() => {
          leave(text.report.sent);
          refreshFigures("rest");
        }}
      />
    </form>
  );
}

/** The key that chooses an option; the tenth is chosen by 0. */
function numberKey(index: number): string {
  return String((index + 1) % 10);
}

/** The part of a draft that answers this type of question. */
function chosen(
  question: HumanQuestion,
  draft: Draft,
): { answer?: string; selected_option?: number; confidence?: number } {
  const sure = draft.confidence === undefined ? {} : { confidence: draft.confidence };
  if (question.type === "multiple_choice") {
    return draft.selected_option === undefined ? {} : { selected_option: draft.selected_option, ...sure };
  }
  return draft.answer?.trim() ? { answer: draft.answer, ...sure } : {};
}

function Words({ value, onChange, onSend }: { value: string; onChange: (words: string) => void; onSend: () => void }) {
  const left = MAX_CHARACTERS - [...value].length;
  return (
    <div class={styles.words}>
      <label for="answer">{text.question.yourAnswer}</label>
      <textarea
        id="answer"
        rows={5}
        maxLength={MAX_CHARACTERS}
        placeholder={text.question.placeholder}
        value={value}
        aria-describedby={hasKeyboard ? "answer-hint" : undefined}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
          const sends = hasKeyboard ? !event.shiftKey : event.ctrlKey || event.metaKey;
          if (event.key !== "Enter" || event.isComposing || !sends) return;
          event.preventDefault();
          onSend();
        }}
      />
      <p class={styles.hint} id="answer-hint">
        <span>{hasKeyboard ? text.question.enterHint : ""}</span>
        <span>{left <= 500 ? text.question.charactersLeft(left) : ""}</span>
      </p>
    </div>
  );
}

function Options(props: { options: readonly string[]; value: number | undefined; onChoose: (index: number) => void }) {
  return (
    <fieldset class={styles.options}>
      <legend class="unseen">{text.question.options}</legend>
      {props.options.map((option, index) => (
        <label key={index} class={styles.option}>
          <input
            type="radio"
            name="option"
            checked={index === props.value}
            onChange={() => props.onChoose(index)}
            class="unseen"
          />
          <kbd aria-hidden="true">{numberKey(index)}</kbd>
          <span>{option}</span>
        </label>
      ))}
    </fieldset>
  );
}
