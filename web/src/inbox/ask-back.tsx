import { useState } from "preact/hooks";
import { moment } from "../moment.ts";
import { announce } from "../parts/announcer.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { queries } from "../query/query.ts";
import { inbox } from "./api.ts";
import { text } from "./ask-back-text.ts";
import styles from "./ask-back.module.css";
import { useCardKeys } from "./card-keys.ts";
import { explain } from "./decide.ts";
import handOnStyles from "./hand-on.module.css";
import { refresh } from "./queries.ts";
import type { WholeAsk } from "./wire.ts";

const LONGEST_QUESTION = 1000;

/** Puts a question to the agent of a waiting ask, which stays open; or says that this agent cannot be asked. */
export function AskBack({ ask }: { ask: WholeAsk }) {
  const [isOpen, setOpen] = useState(false);
  // A review and a conflict are asked by Parley itself.
  const canAsk = ask.may_decide && (ask.task === null || ask.task.about === "wish");
  const hasKeys = useCardKeys(ask.id, canAsk ? { q: () => setOpen(true) } : {});
  return (
    <>
      {canAsk && (
        <button
          type="button"
          class={`quiet ${handOnStyles.button}`}
          onClick={() => setOpen(true)}
          aria-keyshortcuts={hasKeys ? "q" : undefined}
        >
          {text.open}
        </button>
      )}
      <Dialog title={text.title(ask.agent)} open={isOpen} onClose={() => setOpen(false)}>
        {isOpen &&
          (ask.answers_inquiries ? (
            <QuestionForm ask={ask} onDone={() => setOpen(false)} />
          ) : (
            <p dir="auto">{text.cannot(ask.agent)}</p>
          ))}
      </Dialog>
    </>
  );
}

function QuestionForm({ ask, onDone }: { ask: WholeAsk; onDone: () => void }) {
  const [words, setWords] = useState("");
  const [failed, setFailed] = useState<string>();
  const [sending, setSending] = useState(false);

  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (sending) return;
    setSending(true);
    setFailed(undefined);
    try {
      queries.setQueryData(["ask", ask.id], { ...ask, ...(await inbox.askBack(ask.id, words)) });
      announce(text.done);
      onDone();
      refresh(ask.id);
    } catch (error) {
      setFailed(explain(error).says);
      setSending(false);
    }
  };

  return (
    <form class={handOnStyles.form} aria-busy={sending} onSubmit={(event) => void send(event)}>
      <label class={handOnStyles.field}>
        {text.question}
        <small class="muted">{text.lead}</small>
        <textarea
          rows={3}
          maxLength={LONGEST_QUESTION}
          dir="auto"
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      </label>
      {failed !== undefined && (
        <p role="alert" dir="auto">
          {failed}
        </p>
      )}
      <button type="submit" class="primary" disabled={words.trim() === ""}>
        {text.send}
      </button>
    </form>
  );
}

/** The questions to the agent of an ask, and its answers; an answer that comes is read out. */
export function Inquiries({ ask }: { ask: WholeAsk }) {
  return (
    <section class={styles.thread} role="log" aria-label={text.thread}>
      {ask.inquiries.map((one, at) => (
        <dl key={at}>
          <dt class="muted">
            {text.asked(one.mine ? null : (one.name ?? "?"))} · <time dateTime={one.at}>{moment(one.at)}</time>
          </dt>
          <dd dir="auto">{one.text}</dd>
          {one.answer === null ? (
            ask.state === "open" && <dd class="muted">{one.told_at === null ? text.sent : text.told}</dd>
          ) : (
            <>
              <dt class="muted">
                {text.answered(ask.agent)} ·{" "}
                <time dateTime={one.answered_at ?? ""}>{moment(one.answered_at ?? one.at)}</time>
              </dt>
              <dd dir="auto">{one.answer}</dd>
            </>
          )}
        </dl>
      ))}
    </section>
  );
}
