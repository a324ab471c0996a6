import type { Ref, VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import formStyles from "../answer/answer-form.module.css";
import { hasKeyboard } from "../keys.ts";
import { announce } from "../parts/announcer.tsx";
import type { Deliberate } from "../parts/deliberate.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { text as common } from "../text.ts";
import styles from "./ask.module.css";
import { approval, rejection } from "./decide.ts";
import type { AskDraft } from "./draft.ts";
import { editedArguments } from "./arguments/edit-arguments.tsx";
import { HoldButton } from "./hold.tsx";
import { text } from "./text.ts";
import type { AskOption, NewDecision, WholeAsk } from "./wire.ts";

/** The decision that somebody has to confirm; the press that began it was on one half of the screen. */
export type Intent = ({ approve: true } | { approve: false; option?: AskOption }) & { isAtEnd: boolean };

interface Sheet {
  ask: WholeAsk;
  draft: AskDraft;
  deliberate: Deliberate;
  onChange: (part: AskDraft) => void;
  onClose: () => void;
  onDecide: (decision: NewDecision) => void;
}

/** The sheet on which a call is approved or rejected at last, with a comment. */
export function Confirm({ intent, ...sheet }: Sheet & { intent: Intent | null }) {
  const fn = nameOf(sheet.ask);
  const title = intent?.approve === false ? text.rejectTitle(fn) : text.approveTitle(fn);
  return (
    <Dialog title={title} open={intent !== null} onClose={sheet.onClose}>
      {intent && <Deciding intent={intent} {...sheet} />}
    </Dialog>
  );
}

const nameOf = (ask: WholeAsk): string => ask.fn ?? ask.title;

function Deciding({ ask, intent, draft, deliberate, onChange, onClose, onDecide }: Sheet & { intent: Intent }) {
  const [isPermanent, setPermanent] = useState(false);
  const [named, setNamed] = useState("");
  const hold = useRef<HTMLButtonElement>(null);
  const approves = intent.approve;
  const isGrave = approves && ask.risk === "high";
  // A person who types the name of the call need not hold the button, which not everybody can.
  const mustHold = isGrave && named.trim() !== nameOf(ask);
  const kwargs = editedArguments(ask, draft).text;
  const lead = kwargs === null ? text.approveLead(ask.agent) : text.approveEditedLead(ask.agent);
  const comment = (words: string): void => onChange({ comment: words });
  const decide = (): void => {
    if (!deliberate.isDeliberate()) return;
    onClose();
    onDecide(intent.approve ? approval(ask, draft, { kwargs, isPermanent }) : rejection(ask, draft, intent.option));
  };
  const submit = (): void => {
    if (!mustHold) return decide();
    announce(text.holdHint);
    hold.current?.focus();
  };
  return (
    <form
      class={styles.confirm}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <p class="muted">{approves ? lead : text.rejectLead}</p>
      {isGrave ? <Grave ask={ask} named={named} onName={setNamed} /> : <Sentence ask={ask} />}
      {!intent.approve && intent.option && <p dir="auto">{intent.option.title}</p>}
      <Comment approves={approves} value={draft.comment ?? ""} onChange={comment} onSend={submit} />
      {!approves && !ask.editable && ask.kwargs !== null && (
        <button type="button" class="quiet" onClick={() => comment(withArguments(draft, ask.kwargs ?? ""))}>
          {text.otherArguments}
        </button>
      )}
      {approves && <PermanentGrant ask={ask} on={isPermanent} onChange={setPermanent} />}
      <Sides intent={intent} deliberate={deliberate} onTakeBack={onClose}>
        <Decide
          key="decide"
          intent={intent}
          label={!approves ? text.reject : kwargs === null ? text.approve : text.approveEdited}
          deliberate={deliberate}
          hold={mustHold ? hold : null}
          onHeld={decide}
        />
      </Sides>
    </form>
  );
}

/** The button that decides: by a press, or by a long press where `hold` is given. */
function Decide(props: {
  intent: Intent;
  label: string;
  deliberate: Deliberate;
  hold: Ref<HTMLButtonElement> | null;
  onHeld: () => void;
}) {
  const { intent, label, deliberate, hold, onHeld } = props;
  if (hold) {
    return (
      <HoldButton
        label={text.hold(label)}
        deliberate={deliberate}
        describedBy="hold-hint"
        element={hold}
        onHeld={onHeld}
      />
    );
  }
  return (
    <button type="submit" class={intent.approve ? styles.approve : "alarm"} aria-disabled={!deliberate.settled}>
      {label}
    </button>
  );
}

/** The agent allows no other arguments, so the reason holds them; there it reads them as JSON. */
const withArguments = ({ comment = "" }: AskDraft, kwargs: string): string =>
  comment.includes("{") ? comment : `${comment.trim()}${comment.trim() ? "\n\n" : ""}${kwargs}`;

/** The comment that goes to the agent with a yes or a no; Enter sends both. */
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

/** Whether such a call is allowed for good, where the person who approves it may say so. */
function PermanentGrant({ ask, on, onChange }: { ask: WholeAsk; on: boolean; onChange: (on: boolean) => void }) {
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

/** The sentence of the row, whole. */
const Sentence = ({ ask }: { ask: WholeAsk }): VNode => (
  <p class={styles.sentence} dir="auto">
    {ask.sentence}
  </p>
);

/** Names what is about to be approved, and takes its name in the place of a long press. */
function Grave({ ask, named, onName }: { ask: WholeAsk; named: string; onName: (name: string) => void }) {
  return (
    <>
      <p class={styles.grave}>
        <Icon name="warning" />
        <bdi>{ask.sentence}</bdi>
      </p>
      <p class="small" id="hold-hint">
        {text.holdHint}
      </p>
      <label for="named">{text.nameIt(nameOf(ask))}</label>
      <input
        id="named"
        type="text"
        dir="ltr"
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        value={named}
        onInput={(event) => onName(event.currentTarget.value)}
      />
    </>
  );
}

/** Places the buttons so that a second press where the sheet was opened cancels. */
function Sides(props: {
  intent: Intent;
  deliberate: Deliberate;
  onTakeBack: () => void;
  /** The button that decides. */
  children: VNode;
}) {
  const { intent, deliberate, children: decide } = props;
  const takeBack = (): void => {
    if (deliberate.isDeliberate()) props.onTakeBack();
  };
  const cancel = (
    <button key="cancel" type="button" aria-disabled={!deliberate.settled} onClick={takeBack}>
      {common.cancel}
    </button>
  );
  return (
    <div class={styles.sides} onPointerDown={deliberate.onPointerDown}>
      {intent.isAtEnd ? [decide, cancel] : [cancel, decide]}
    </div>
  );
}
