import type { FeedItem, HumanQuestion } from "@parley/sdk/wire";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { people } from "../api.ts";
import { type Draft, readDraft, useDraft } from "../drafts.ts";
import { useKeys } from "../keys.ts";
import { announce } from "../parts/announcer.tsx";
import { type Deliberate, useDeliberate } from "../parts/deliberate.ts";
import { later } from "../parts/later.tsx";
import { TimeLeft, useTimeUp } from "../parts/time-left.tsx";
import { refreshFigures } from "../queries.ts";
import { text } from "../text.ts";
import styles from "./answer-form.module.css";
import { Confidence } from "./confidence.tsx";
import { Options } from "./options.tsx";
import { type Press, usePress } from "./press.ts";
import { Prompt } from "./prompt.tsx";
import { chosen, useLeaving, useSending } from "./sending.ts";
import { Welcome } from "./welcome.tsx";
import { Words } from "./words.tsx";

const ReportDialog = later(async () => (await import("./report-dialog.tsx")).ReportDialog);

interface FormProps {
  question: HumanQuestion;
  next: FeedItem | undefined;
  /** Called at each change of the answer, and when it is sent. */
  onBegin: () => void;
  onTimeUp: () => void;
}

/** The question and the way to answer it: a chosen option is sent after a moment, words are sent by Send. */
export function AnswerForm({ question, next, onBegin, onTimeUp }: FormProps) {
  const id = question.question_id;
  const form = useRef<HTMLFormElement>(null);
  const deliberate = useDeliberate(null);
  const answering = useAnswering(question, deliberate, onBegin);
  const { draft, press } = answering;
  const leave = useLeaving(id, next);
  useTimeUp(Date.parse(question.expires_at), onTimeUp);

  /** The server is notified if possible. */
  const skip = (): void => {
    if (!deliberate.isDeliberate()) return;
    leave(text.question.skipped);
    people.skip(id).then(
      () => refreshFigures("rest"),
      () => {},
    );
  };
  const send = (): void => {
    if (!answering.send()) form.current?.querySelector("textarea")?.focus();
  };
  useKeys({ Enter: send, Escape: press.isPending ? press.undo : undefined });

  const isHeld = question.type === "multiple_choice" && draft.selected_option !== undefined;
  const skipping = (
    <button type="button" class="quiet" data-place="skip" aria-disabled={!deliberate.settled} onClick={skip}>
      {text.question.skip}
    </button>
  );
  return (
    <form
      ref={form}
      class={styles.form}
      aria-busy={answering.sending}
      onPointerDown={deliberate.onPointerDown}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Asked question={question} />
      {question.type === "text" ? (
        <Words value={draft.answer ?? ""} onChange={(answer) => answering.edit({ answer })} onSend={send} />
      ) : (
        <Options
          options={question.options ?? []}
          value={draft.selected_option}
          isPending={press.isPending}
          deliberate={deliberate}
          onChoose={answering.choose}
        />
      )}
      <Confidence value={draft.confidence} onChange={(confidence) => answering.edit({ confidence })} />
      <p class={styles.machine}>{text.question.machine}</p>
      <More questionId={id} onReport={press.undo} onReported={() => leave(text.question.reported)}>
        {isHeld && skipping}
      </More>
      <Bar answering={answering} skip={!isHeld && skipping} isSent={question.type === "text" || isHeld} />
    </form>
  );
}

/** The quiet actions at the end of the page: Report, and before it those that the bar has no room for. */
function More(props: {
  questionId: string;
  onReport: () => void;
  onReported: () => void;
  children: ComponentChildren;
}) {
  const { questionId, onReport, onReported, children } = props;
  const [isOpen, setOpen] = useState<boolean>();
  const report = (): void => {
    onReport();
    setOpen(true);
  };
  return (
    <div class={styles.more}>
      {children}
      <button type="button" class="quiet" onClick={report}>
        {text.question.report}
      </button>
      {isOpen !== undefined && (
        <ReportDialog
          questionId={questionId}
          open={isOpen}
          onClose={() => setOpen(false)}
          onReported={() => {
            onReported();
            refreshFigures("rest");
          }}
        />
      )}
    </div>
  );
}

interface Answering {
  draft: Draft;
  press: Press;
  sending: boolean;
  /** Send is on screen long enough, or the answer was changed since. */
  isReady: boolean;
  edit: (part: Draft) => void;
  choose: (option: number) => void;
  /** Sends the draft; false where it holds no answer. */
  send: () => boolean;
}

/** The draft of an answer, its changes, and its way to the server. */
function useAnswering(question: HumanQuestion, { settled }: Deliberate, onBegin: () => void): Answering {
  const id = question.question_id;
  const [draft, change] = useDraft(id);
  const [isTouched, touch] = useState(false);
  const [sending, submit] = useSending(question);
  const isReady = settled || isTouched;
  const press = usePress(() => send());

  const send = (): boolean => {
    if (!isReady) return true;
    const answer = chosen(question, readDraft(id));
    if (!answer) {
      announce(question.type === "text" ? text.question.writeFirst : text.question.chooseFirst);
      return false;
    }
    press.undo();
    onBegin();
    void submit(answer);
    return true;
  };
  const edit = (part: Draft): void => {
    if (sending) return;
    onBegin();
    touch(true);
    change(part);
    // A confidence that is given in that moment is sent along.
    if (press.isPending) press.begin();
  };
  const choose = (option: number): void => {
    if (sending || (press.isPending && option === draft.selected_option)) return;
    edit({ selected_option: option });
    press.begin();
  };
  return { draft, press, sending, isReady, edit, choose, send };
}

/** The question itself, the number of answers that are needed, until when and from which audience. */
function Asked({ question }: { question: HumanQuestion }) {
  return (
    <header class={styles.header}>
      <Welcome id={question.question_id} />
      <Prompt words={question.prompt} />
      <p class={styles.facts}>
        <span>{text.feed.needed(question.responses_needed)}</span>
        <TimeLeft until={question.expires_at} />
        <span>{question.audience.map((tag) => text.audience[tag]).join(", ")}</span>
        <span>{text.feed.pointsLong(question.points)}</span>
      </p>
    </header>
  );
}

/**
 * The next action, within reach of the thumb. Each has its own place in the bar, so that a second press never finds
 * another one: Undo and Skip in the middle, Send at the end, and after the answer the next question at the beginning.
 */
function Bar({ answering, skip, isSent }: { answering: Answering; skip: ComponentChildren; isSent: boolean }) {
  const { press, sending, isReady } = answering;
  return (
    <div class={styles.bar}>
      {press.isPending ? (
        <button type="button" data-place="undo" onClick={press.undo}>
          {text.question.undo}
        </button>
      ) : (
        <>
          {!sending && skip}
          {isSent && (
            <button type="submit" class="primary" data-place="send" aria-disabled={sending || !isReady}>
              {sending ? text.question.sending : text.question.send}
            </button>
          )}
        </>
      )}
      <span class="unseen" role="status">
        {press.isPending && text.question.sendsSoon}
      </span>
    </div>
  );
}
