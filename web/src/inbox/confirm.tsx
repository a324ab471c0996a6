import type { Ref, VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import formStyles from "../answer/answer-form.module.css";
import { hasKeyboard } from "../keys.ts";
import { announce } from "../parts/announcer.tsx";
import { type Deliberate, useDeliberate } from "../parts/deliberate.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { useQuery } from "../query/query.ts";
import { text as common } from "../text.ts";
import styles from "./ask.module.css";
import { inbox } from "./api.ts";
import { Grants } from "./alike.tsx";
import { Changes } from "./arguments/changes.tsx";
import { approval, explain, rejection } from "./decide.ts";
import { type AskDraft, wordsBeside } from "./draft.ts";
import { editedArguments } from "./arguments/edit-arguments.tsx";
import { HoldButton } from "./hold.tsx";
import { ReadyAnswers } from "./reply.tsx";
import { text } from "./text.ts";
import type { AskOption, EditedCall, Granted, NewDecision, WholeAsk } from "./wire.ts";

/** The decision that somebody has to confirm; the press that began it was on one half of the screen, where the thumb is. */
export interface Intent {
  approve: boolean;
  isAtEnd: boolean;
}

interface Sheet {
  ask: WholeAsk;
  draft: AskDraft;
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

const leadOf = ({ agent }: WholeAsk, kwargs: string | null): string =>
  kwargs === null ? text.approveLead(agent) : text.approveEditedLead(agent);

const nameOf = (ask: WholeAsk): string => ask.fn ?? ask.title;

function Deciding({ ask, intent, draft, onChange, onClose, onDecide }: Sheet & { intent: Intent }) {
  const approves = intent.approve;
  const kwargs = approves ? editedArguments(ask, draft).text : null;
  const { edited, error, deliberate } = useEdited(ask, kwargs, intent);
  const [granted, setGranted] = useState<Granted>({});
  const [named, setNamed] = useState("");
  const hold = useRef<HTMLButtonElement>(null);
  const isGrave = approves && (edited ?? ask).risk === "high";
  // A person who types the name of the call need not hold the button, which not everybody can.
  const mustHold = isGrave && named.trim() !== nameOf(ask);
  const option = ask.options.find(({ name }) => name === draft.option);
  const comment = (words: string): void => onChange({ comment: words });
  const decide = (): void => {
    if (!deliberate.isDeliberate()) return;
    onClose();
    onDecide(intent.approve ? approval(ask, draft, { kwargs, granted }) : rejection(ask, draft, option));
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
      // A key that is held down would press the button again and again.
      onKeyDown={(event) => event.repeat && event.key === "Enter" && event.preventDefault()}
    >
      <p class="muted">{approves ? leadOf(ask, kwargs) : text.rejectLead}</p>
      <Said ask={ask} edited={edited} error={kwargs === null ? null : error} isGrave={isGrave} />
      {isGrave && <Grave ask={ask} named={named} onName={setNamed} />}
      {!approves && <Ways ask={ask} draft={draft} chosen={option} onChange={onChange} />}
      <Comment
        approves={approves}
        // A screen's own keyboard would cover the ways to reject.
        isFirst={!approves && (hasKeyboard || ask.options.length === 0)}
        value={draft.comment ?? ""}
        onChange={comment}
        onSend={submit}
      />
      {!approves && !ask.editable && ask.kwargs !== null && (
        <button type="button" class="quiet" onClick={() => comment(withArguments(draft, ask.kwargs ?? ""))}>
          {text.otherArguments}
        </button>
      )}
      {approves && kwargs === null && <Grants ask={ask} onChange={setGranted} />}
      <Sides isAtEnd={intent.isAtEnd !== isGrave} deliberate={deliberate} onTakeBack={onClose}>
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

/** The call with the arguments that were changed, and presses that count half a second after it is on screen. */
function useEdited(ask: WholeAsk, kwargs: string | null, intent: Intent) {
  const { data: edited = null, error } = useQuery({
    queryKey: ["ask", ask.id, "edited", kwargs],
    queryFn: ({ signal }) => (kwargs === null ? null : inbox.edited(ask.id, kwargs, { signal })),
  });
  const shown = kwargs === null ? intent : edited;
  const onScreen = useDeliberate(shown);
  const deliberate = shown ? onScreen : { ...onScreen, settled: false, isDeliberate: () => false };
  return { edited, error, deliberate };
}

/** The sentence of the call that would run, and what differs in it from the agent's. */
function Said(props: { ask: WholeAsk; edited: EditedCall | null; error: unknown; isGrave: boolean }) {
  const { ask, edited, error, isGrave } = props;
  return (
    <>
      <p class={isGrave ? styles.grave : undefined} dir="auto">
        {isGrave && <Icon name="warning" />}
        <bdi class={styles.sentence}>{(edited ?? ask).sentence}</bdi>
      </p>
      {edited && <Changes before={ask.arguments ?? []} after={edited.arguments} />}
      {error !== null && (
        <p role="alert" class={styles.alert} dir="auto">
          {explain(error).says}
        </p>
      )}
    </>
  );
}

/** The agent's own ways to reject: one is chosen by a press, and sent with the rest. */
function Ways(props: {
  ask: WholeAsk;
  draft: AskDraft;
  chosen: AskOption | undefined;
  onChange: (part: AskDraft) => void;
}) {
  const { ask, draft, chosen } = props;
  if (ask.options.length === 0) return null;
  const choose = (one: AskOption): void => {
    const next = one === chosen ? undefined : one;
    props.onChange({ option: next?.name, comment: wordsBeside(next, ask.options, draft.comment) });
  };
  return <ReadyAnswers legend={text.rejectWays} options={ask.options} chosen={chosen?.name} onChoose={choose} />;
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
    <button
      type="submit"
      class={intent.approve ? styles.approve : "alarm"}
      aria-disabled={!deliberate.settled}
      autofocus={intent.approve && hasKeyboard}
    >
      {label}
    </button>
  );
}

/** The agent allows no other arguments, so the reason holds them; there it reads them as JSON. */
const withArguments = ({ comment = "" }: AskDraft, kwargs: string): string =>
  comment.includes("{") ? comment : `${comment.trim()}${comment.trim() ? "\n\n" : ""}${kwargs}`;

/** The comment that goes to the agent with a yes or a no; Enter sends both. */
function Comment(props: {
  approves: boolean;
  isFirst: boolean;
  value: string;
  onChange: (words: string) => void;
  onSend: () => void;
}) {
  return (
    <>
      <label for="comment">{props.approves ? text.comment : text.reason}</label>
      <textarea
        id="comment"
        dir="auto"
        rows={3}
        maxLength={5000}
        value={props.value}
        // A yes needs no words, and keys that come in the rhythm of many decisions must not become some.
        autofocus={props.isFirst}
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

/** Takes the name of what is about to be approved in the place of a long press. */
function Grave({ ask, named, onName }: { ask: WholeAsk; named: string; onName: (name: string) => void }) {
  return (
    <>
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

/** Places the buttons: `isAtEnd` where the one that decides is to stand at the end of the line. */
function Sides(props: {
  isAtEnd: boolean;
  deliberate: Deliberate;
  onTakeBack: () => void;
  /** The button that decides. */
  children: VNode;
}) {
  const { isAtEnd, deliberate, children: decide } = props;
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
      {isAtEnd ? [cancel, decide] : [decide, cancel]}
    </div>
  );
}
