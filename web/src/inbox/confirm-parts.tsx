import type { ComponentChildren, Ref, VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import formStyles from "../answer/answer-form.module.css";
import { hasKeyboard } from "../keys.ts";
import { announce } from "../parts/announcer.tsx";
import type { Deliberate } from "../parts/deliberate.ts";
import { text as common } from "../text.ts";
import styles from "./ask.module.css";
import { HoldButton } from "./hold.tsx";
import { text } from "./text.ts";

/**
 * The form of a sheet on which something is decided at last. A yes of high risk takes a long press, or the `name` of what
 * is approved; a person who types it need not hold the button, which not everybody can.
 */
export function ConfirmForm(props: {
  approves: boolean;
  /** True for a yes that takes the care of a high risk. */
  isGrave: boolean;
  name: string;
  lead: string;
  label: string;
  isAtEnd: boolean;
  deliberate: Deliberate;
  onClose: () => void;
  onDecide: () => void;
  /** The subject of the decision, below the lead. */
  about: ComponentChildren;
  /** The fields of the decision; `send` is for a field that Enter sends from. */
  children: (send: () => void) => ComponentChildren;
}) {
  const { approves, isGrave, name, deliberate, onClose } = props;
  const [named, setNamed] = useState("");
  const hold = useRef<HTMLButtonElement>(null);
  const mustHold = isGrave && named.trim() !== name;
  const decide = (): void => {
    if (!deliberate.isDeliberate()) return;
    onClose();
    props.onDecide();
  };
  const send = (): void => {
    if (!mustHold) return decide();
    announce(text.holdHint);
    hold.current?.focus();
  };
  return (
    <form
      class={styles.confirm}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      // A key that is held down would press the button again and again.
      onKeyDown={(event) => event.repeat && event.key === "Enter" && event.preventDefault()}
    >
      <p class="muted">{props.lead}</p>
      {props.about}
      {isGrave && <Grave name={name} named={named} onName={setNamed} />}
      {props.children(send)}
      <Sides isAtEnd={props.isAtEnd !== isGrave} deliberate={deliberate} onTakeBack={onClose}>
        <Decide
          key="decide"
          approves={approves}
          label={props.label}
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
  approves: boolean;
  label: string;
  deliberate: Deliberate;
  hold: Ref<HTMLButtonElement> | null;
  onHeld: () => void;
}) {
  const { approves, label, deliberate, hold, onHeld } = props;
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
      class={approves ? styles.approve : "alarm"}
      aria-disabled={!deliberate.settled}
      autofocus={approves && hasKeyboard}
    >
      {label}
    </button>
  );
}

/** The comment that goes to the agent with a yes or a no; Enter sends both. */
export function Comment(props: {
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
function Grave({ name, named, onName }: { name: string; named: string; onName: (name: string) => void }) {
  return (
    <>
      <p class="small" id="hold-hint">
        {text.holdHint}
      </p>
      <label for="named">{text.nameIt(name)}</label>
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
