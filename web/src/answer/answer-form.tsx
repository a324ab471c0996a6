import { newKey } from "@parley/sdk/idempotency-key";
import type { FeedItem, HumanQuestion } from "@parley/sdk/wire";
import { useRef, useState } from "preact/hooks";
import { useLocation } from "wouter";
import { people } from "../api.ts";
import { deviceName } from "../device.ts";
import { type Draft, dropDraft, useDraft } from "../drafts.ts";
import { hasKeyboard, useKeys } from "../keys.ts";
import { sendLater } from "../live.ts";
import { submit } from "../outbox.ts";
import { announce } from "../parts/announcer.tsx";
import { TimeLeft, useTimeUp } from "../parts/time-left.tsx";
import { type ListedPage, queries, refreshFigures } from "../queries.ts";
import { text } from "../text.ts";
import styles from "./answer-form.module.css";
import { Confidence } from "./confidence.tsx";
import { ReportDialog } from "./report-dialog.tsx";

const MAX_CHARACTERS = 5000;

/** The fields of a draft that are sent, by the type of the question. */
interface Chosen {
  answer?: string;
  selected_option?: number;
  confidence?: number;
}

/** The question and the way to answer it. */
export function AnswerForm(props: { question: HumanQuestion; next: FeedItem | undefined; onTimeUp: () => void }) {
  const { question, next, onTimeUp } = props;
  const id = question.question_id;
  const [draft, change] = useDraft(id);
  const [sending, send] = useSending(question);
  const [reporting, setReporting] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const leave = useLeaving(id, next);
  useTimeUp(Date.parse(question.expires_at), onTimeUp);

  const sendDraft = (): void => {
    const answer = chosen(question, draft);
    if (answer.answer === undefined && answer.selected_option === undefined) {
      form.current?.querySelector("textarea")?.focus();
      return announce(question.type === "text" ? text.question.writeFirst : text.question.chooseFirst);
    }
    void send(answer);
  };
  /** The server is notified if possible. */
  const skip = (): void => {
    leave(text.question.skipped);
    people.skip(id).then(
      () => refreshFigures("rest"),
      () => {},
    );
  };
  useKeys({ Enter: () => form.current?.requestSubmit() });

  return (
    <form
      ref={form}
      class={styles.form}
      aria-busy={sending}
      onSubmit={(event) => {
        event.preventDefault();
        sendDraft();
      }}
    >
      <Asked question={question} />
      {question.type === "text" ? (
        <Words value={draft.answer ?? ""} onChange={(answer) => change({ answer })} onSend={sendDraft} />
      ) : (
        <Options
          options={question.options ?? []}
          value={draft.selected_option}
          onChoose={(selected_option) => change({ selected_option })}
        />
      )}
      <Confidence value={draft.confidence} onChange={(confidence) => change({ confidence })} />
      <p class={styles.machine}>{text.question.machine}</p>
      <Bar points={question.points} sending={sending} onSkip={skip} onReport={() => setReporting(true)} />
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

/**
 * Returns whether an answer is being sent, and how to send one, once; it is sent later if the server cannot be reached
 * now.
 */
function useSending(question: HumanQuestion): [boolean, (answer: Chosen) => Promise<void>] {
  const [sending, setSending] = useState(false);
  const send = async (answer: Chosen): Promise<void> => {
    if (sending) return;
    setSending(true);
    const { question_id, prompt, type, options } = question;
    const isSent = await submit({
      key: newKey(),
      answer: { question_id, ...answer },
      question: { prompt, type, ...(options ? { options } : {}) },
      device: deviceName(),
    });
    dropDraft(question_id);
    if (!isSent) void sendLater();
  };
  return [sending, send];
}

/** Takes the question out of the list at once, says why, and goes on to the next. */
function useLeaving(id: string, next: FeedItem | undefined): (words: string) => void {
  const [, go] = useLocation();
  return (words) => {
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
}

/** The number of answers that are needed, until when and from which audience, and the question itself. */
function Asked({ question }: { question: HumanQuestion }) {
  return (
    <header class={styles.header}>
      <p class={styles.facts}>
        <span>{text.feed.needed(question.responses_needed)}</span>
        <TimeLeft until={question.expires_at} />
        <span>{question.audience.map((tag) => text.audience[tag]).join(", ")}</span>
      </p>
      <h1 dir="auto">{question.prompt}</h1>
    </header>
  );
}

/** The actions on the question, within reach of the thumb. */
function Bar(props: { points: number; sending: boolean; onSkip: () => void; onReport: () => void }) {
  return (
    <div class={styles.bar}>
      <button type="button" class="quiet" onClick={props.onSkip}>
        {text.question.skip}
      </button>
      <button type="button" class="quiet" onClick={props.onReport}>
        {text.question.report}
      </button>
      <button type="submit" class="primary">
        {props.sending ? text.question.sending : text.question.send}
        <span class={styles.points} aria-hidden="true">
          {text.feed.points(props.points)}
        </span>
      </button>
    </div>
  );
}

/** The key that chooses an option; the tenth is chosen by 0. */
function numberKey(index: number): string {
  return String((index + 1) % 10);
}

/** The part of a draft that answers this type of question. */
function chosen(question: HumanQuestion, draft: Draft): Chosen {
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
        dir="auto"
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
  useKeys(Object.fromEntries(props.options.map((_, index) => [numberKey(index), () => props.onChoose(index)])));
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
          <span dir="auto">{option}</span>
        </label>
      ))}
    </fieldset>
  );
}
