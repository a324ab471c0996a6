import { useState } from "preact/hooks";
import formStyles from "../answer/answer-form.module.css";
import { hasKeyboard } from "../keys.ts";
import type { Deliberate } from "../parts/deliberate.ts";
import { Dialog } from "../parts/dialog.tsx";
import { text as common } from "../text.ts";
import styles from "./ask.module.css";
import { approval, rejection } from "./decide.ts";
import type { AskDraft } from "./draft.ts";
import { editedArguments } from "./edit-arguments.tsx";
import { text } from "./text.ts";
import type { AskOption, NewDecision, WholeAsk } from "./wire.ts";

/** What somebody is about to do, and has to confirm; a press to begin it was on one half of the screen. */
export type Intent = ({ approve: true } | { approve: false; option?: AskOption }) & { pressedRight: boolean };

/** A sheet on which a call is approved or rejected at last, with what is said along with that. */
export function Confirm(props: {
  ask: WholeAsk;
  intent: Intent | null;
  draft: AskDraft;
  deliberate: Deliberate;
  onChange: (part: AskDraft) => void;
  onClose: () => void;
  onDecide: (decision: NewDecision) => void;
}) {
  const { ask, intent, draft, deliberate, onClose } = props;
  const [standing, setStanding] = useState(false);
  const fn = ask.fn ?? ask.title;
  const approves = intent?.approve ?? true;
  const kwargs = editedArguments(ask, draft).text;
  const lead = kwargs === null ? text.approveLead(ask.agent) : text.approveEditedLead(ask.agent);
  const yes = kwargs === null ? text.approve : text.approveEdited;
  const comment = (words: string): void => props.onChange({ comment: words });
  const confirm = (): void => {
    if (!intent || !deliberate.isMeant()) return;
    onClose();
    props.onDecide(intent.approve ? approval(ask, draft, { kwargs, standing }) : rejection(ask, draft, intent.option));
  };
  return (
    <Dialog title={approves ? text.approveTitle(fn) : text.rejectTitle(fn)} open={intent !== null} onClose={onClose}>
      <form
        class={styles.confirm}
        onSubmit={(event) => {
          event.preventDefault();
          confirm();
        }}
      >
        <p class="muted">{approves ? lead : text.rejectLead}</p>
        {intent && !intent.approve && intent.option && <p dir="auto">{intent.option.title}</p>}
        <Comment approves={approves} value={draft.comment ?? ""} onChange={comment} onSend={confirm} />
        {!approves && !ask.editable && ask.kwargs !== null && (
          <button type="button" class="quiet" onClick={() => comment(withArguments(draft, ask.kwargs ?? ""))}>
            {text.otherArguments}
          </button>
        )}
        {approves && <Standing ask={ask} on={standing} onChange={setStanding} />}
        <Sides intent={intent} label={approves ? yes : text.reject} deliberate={deliberate} onTakeBack={onClose} />
      </form>
    </Dialog>
  );
}

/** The agent allows no other arguments, so they are said in the reason; there it reads them as JSON. */
const withArguments = ({ comment = "" }: AskDraft, kwargs: string): string =>
  comment.includes("{") ? comment : `${comment.trim()}${comment.trim() ? "\n\n" : ""}${kwargs}`;

/** What is said to the agent along with a yes or a no; Enter sends both. */
function Comment(props: { approves: boolean; value: string; onChange: (words: string) => void; onSend: () => void }) {
  return (
    <>
      <label for="comment">{props.approves ? text.comment : text.reason}</label>
      <textarea
        id="comment"
        dir="auto"
        rows={3}
        maxLength={5000}
        value={props.value}
        // On a phone the keyboard would cover what is being approved.
        autofocus={!props.approves || hasKeyboard}
        aria-describedby={hasKeyboard ? "comment-hint" : undefined}
        onInput={(event) => props.onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          const sends = hasKeyboard ? !event.shiftKey : event.ctrlKey || event.metaKey;
          if (event.key !== "Enter" || event.isComposing || !sends) return;
          event.preventDefault();
          if (!event.repeat) props.onSend();
        }}
      />
      {hasKeyboard && (
        <p class={formStyles.hint} id="comment-hint">
          {text.enterHint}
        </p>
      )}
    </>
  );
}

/** Whether such a call is allowed for good, where whoever approves it may say so. */
function Standing({ ask, on, onChange }: { ask: WholeAsk; on: boolean; onChange: (on: boolean) => void }) {
  if (!ask.may_stand || ask.standing_until === null) return null;
  return (
    <label class={styles.tick}>
      <input type="checkbox" checked={on} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>
        {text.alwaysAllow}
        <small class="muted">{text.alwaysAllowLead(ask.agent, ask.standing_until)}</small>
      </span>
    </label>
  );
}

/** Whoever presses again where the sheet was called up takes it back. */
function Sides(props: { intent: Intent | null; label: string; deliberate: Deliberate; onTakeBack: () => void }) {
  const { intent, deliberate } = props;
  const approves = intent?.approve ?? true;
  const takeBack = (): void => {
    if (deliberate.isMeant()) props.onTakeBack();
  };
  const cancel = (
    <button key="cancel" type="button" aria-disabled={!deliberate.settled} onClick={takeBack}>
      {common.cancel}
    </button>
  );
  const decide = (
    <button key="decide" type="submit" class={approves ? styles.approve : "alarm"} aria-disabled={!deliberate.settled}>
      {props.label}
    </button>
  );
  return (
    <div class={styles.sides} onPointerDown={deliberate.onPointerDown}>
      {intent?.pressedRight ? [decide, cancel] : [cancel, decide]}
    </div>
  );
}
