import { useState } from "preact/hooks";
import { hasKeyboard, useKeys } from "../keys.ts";
import { type Deliberate, useDeliberate } from "../parts/deliberate.ts";
import { Dialog } from "../parts/dialog.tsx";
import { type Deciding, useDecide } from "./decide.ts";
import { type AskDraft, useAskDraft } from "./draft.ts";
import { EditArguments, editedArguments } from "./edit-arguments.tsx";
import { Call, Facts } from "./parts.tsx";
import styles from "./ask.module.css";
import { WishWords } from "./task-wish.tsx";
import formStyles from "../answer/answer-form.module.css";
import { text as common } from "../text.ts";
import { text } from "./text.ts";
import type { AskOption, WholeAsk } from "./wire.ts";

/** What somebody is about to do, and has to confirm; a press to begin it was on one half of the screen. */
type Intent = ({ approve: true } | { approve: false; option?: AskOption }) & { pressedRight: boolean };

const isRight = (event: MouseEvent): boolean => event.clientX > innerWidth / 2;

/** A call to be approved or rejected: what runs comes first and whole, then who asks, and the controls come last. */
export function Approval({ ask }: { ask: WholeAsk }) {
  const [draft, change] = useAskDraft(ask.id);
  const deciding = useDecide(ask.id);
  const [intent, setIntent] = useState<Intent | null>(null);
  const [standing, setStanding] = useState(false);
  const edited = editedArguments(ask, draft);

  const deliberate = useDeliberate(intent ?? ask.id);

  const approve = (pressedRight = true): void => {
    if (edited.problem === null) return setIntent({ approve: true, pressedRight });
    document.getElementById("kwargs")?.focus();
  };
  const reject = (pressedRight = false): void => setIntent({ approve: false, pressedRight });
  useKeys({ a: () => approve(), r: () => reject() });

  const choose = (option: AskOption, pressedRight: boolean): void => {
    const isMeant = deliberate.isMeant();
    if (!option.interactive && !isMeant) return;
    if (!option.interactive) return void deciding.send({ ...rejection(ask, draft), option: option.name });
    if (!draft.comment && option.prompt_fill !== null) change({ comment: option.prompt_fill });
    setIntent({ approve: false, option, pressedRight });
  };
  const confirm = (): void => {
    if (!intent || !deliberate.isMeant()) return;
    setIntent(null);
    if (!intent.approve) {
      const option = intent.option ? { option: intent.option.name } : {};
      return void deciding.send({ ...rejection(ask, draft), ...option });
    }
    const more = { ...(edited.text !== null && { kwargs: edited.text }), ...(standing && { standing }) };
    void deciding.send({ approved: true, ...commentIn(draft), ...more, digest: ask.digest ?? "" });
  };

  return (
    <>
      <Call ask={ask} />
      <WishWords ask={ask} />
      <Facts ask={ask} />
      {ask.editable && (
        <EditArguments ask={ask} draft={draft} onChange={change} problems={problemsOf(deciding, edited)} />
      )}
      {deciding.refused && (
        <p role="alert" class={styles.alert}>
          {deciding.refused.says}
        </p>
      )}
      <div class={styles.decide} aria-busy={deciding.sending}>
        <div class={styles.pair}>
          <button type="button" class="alarm" onClick={(event) => reject(isRight(event))} aria-keyshortcuts="r">
            {text.reject}
          </button>
          <button
            type="button"
            class={styles.approve}
            onClick={(event) => approve(isRight(event))}
            aria-keyshortcuts="a"
            aria-disabled={edited.problem !== null}
          >
            {edited.text === null ? text.approve : text.approveEdited}
          </button>
        </div>
        {ask.options.length > 0 && (
          <section class={styles.ways} aria-label={text.rejectWays} onPointerDown={deliberate.onPointerDown}>
            <h2>{text.rejectWays}</h2>
            {ask.options.map((option) => (
              <button
                key={option.name}
                type="button"
                class={styles.way}
                aria-disabled={!option.interactive && !deliberate.settled}
                onClick={(event) => choose(option, isRight(event))}
              >
                <span>{option.title}</span>
                {option.description !== null && <span class={styles.says}>{option.description}</span>}
              </button>
            ))}
          </section>
        )}
      </div>
      <Confirm
        ask={ask}
        intent={intent}
        draft={draft}
        deliberate={deliberate}
        isEdited={edited.text !== null}
        standing={standing}
        onStanding={setStanding}
        onComment={(comment) => change({ comment })}
        onClose={() => setIntent(null)}
        onConfirm={confirm}
      />
    </>
  );
}

const commentIn = ({ comment }: AskDraft) => (comment?.trim() ? { comment } : {});
const rejection = (ask: WholeAsk, draft: AskDraft) => ({
  approved: false,
  ...commentIn(draft),
  ...(ask.digest !== null && { digest: ask.digest }),
});

/** The agent allows no other arguments, so they are said in the reason; there it reads them as JSON. */
const withArguments = ({ comment = "" }: AskDraft, kwargs: string): string =>
  comment.includes("{") ? comment : `${comment.trim()}${comment.trim() ? "\n\n" : ""}${kwargs}`;

const problemsOf = (deciding: Deciding, edited: { problem: string | null }) => [
  ...(edited.problem === null ? [] : [{ path: "", message: edited.problem }]),
  ...(deciding.refused?.problems ?? []),
];

function Confirm(props: {
  ask: WholeAsk;
  intent: Intent | null;
  draft: AskDraft;
  deliberate: Deliberate;
  isEdited: boolean;
  standing: boolean;
  onStanding: (standing: boolean) => void;
  onComment: (comment: string) => void;
  onClose: () => void;
  onConfirm: () => void;
}) {
  const { ask, intent, draft, deliberate, isEdited } = props;
  const fn = ask.fn ?? ask.title;
  const approves = intent?.approve ?? true;
  const takeBack = (): void => {
    if (deliberate.isMeant()) props.onClose();
  };
  const lead = isEdited ? text.approveEditedLead(ask.agent) : text.approveLead(ask.agent);
  // Whoever presses again where the sheet was called up takes it back.
  const cancel = (
    <button key="cancel" type="button" aria-disabled={!deliberate.settled} onClick={takeBack}>
      {common.cancel}
    </button>
  );
  const decide = (
    <button key="decide" type="submit" class={approves ? styles.approve : "alarm"} aria-disabled={!deliberate.settled}>
      {approves ? (isEdited ? text.approveEdited : text.approve) : text.reject}
    </button>
  );
  return (
    <Dialog
      title={approves ? text.approveTitle(fn) : text.rejectTitle(fn)}
      open={intent !== null}
      onClose={props.onClose}
    >
      <form
        class={styles.confirm}
        onSubmit={(event) => {
          event.preventDefault();
          props.onConfirm();
        }}
      >
        <p class="muted">{approves ? lead : text.rejectLead}</p>
        {intent && !intent.approve && intent.option && <p>{intent.option.title}</p>}
        <label for="comment">{approves ? text.comment : text.reason}</label>
        <textarea
          id="comment"
          rows={3}
          maxLength={5000}
          value={draft.comment ?? ""}
          // On a phone the keyboard would cover what is being approved.
          autofocus={!approves || hasKeyboard}
          aria-describedby={hasKeyboard ? "comment-hint" : undefined}
          onInput={(event) => props.onComment(event.currentTarget.value)}
          onKeyDown={(event) => {
            const sends = hasKeyboard ? !event.shiftKey : event.ctrlKey || event.metaKey;
            if (event.key !== "Enter" || event.isComposing || !sends) return;
            event.preventDefault();
            if (!event.repeat) props.onConfirm();
          }}
        />
        {hasKeyboard && (
          <p class={formStyles.hint} id="comment-hint">
            {text.enterHint}
          </p>
        )}
        {!approves && !ask.editable && ask.kwargs !== null && (
          <button type="button" class="quiet" onClick={() => props.onComment(withArguments(draft, ask.kwargs ?? ""))}>
            {text.otherArguments}
          </button>
        )}
        {approves && ask.may_stand && ask.standing_until !== null && (
          <label class={styles.tick}>
            <input
              type="checkbox"
              checked={props.standing}
              onChange={(event) => props.onStanding(event.currentTarget.checked)}
            />
            <span>
              {text.alwaysAllow}
              <small class="muted">{text.alwaysAllowLead(ask.agent, ask.standing_until)}</small>
            </span>
          </label>
        )}
        <div class={styles.sides} onPointerDown={deliberate.onPointerDown}>
          {intent?.pressedRight ? [decide, cancel] : [cancel, decide]}
        </div>
      </form>
    </Dialog>
  );
}
