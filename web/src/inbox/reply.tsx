import { useRef, useState } from "preact/hooks";
import { hasKeyboard, useKeys } from "../keys.ts";
import { announce } from "../parts/announcer.tsx";
import { useDeliberate } from "../parts/deliberate.ts";
import formStyles from "../answer/answer-form.module.css";
import ownStyles from "./form.module.css";
import styles from "./ask.module.css";
import { useCardKeys } from "./card-keys.ts";
import { useDecide } from "./decide.ts";
import { useAskDraft, wordsBeside } from "./draft.ts";
import { Facts } from "./parts.tsx";
import { text } from "./text.ts";
import type { AskOption, WholeAsk } from "./wire.ts";

/** A question with ready-made answers, room for words, or both. */
export function Reply({ ask }: { ask: WholeAsk }) {
  const [draft, change] = useAskDraft(ask.id);
  const { send, sending, refused } = useDecide(ask.id);
  const form = useRef<HTMLFormElement>(null);
  const [again, setAgain] = useState(false);

  const submit = (): void => {
    const words = draft.text?.trim() ? { text: draft.text } : {};
    const option = draft.option === undefined ? {} : { option: draft.option };
    if (!("option" in option) && (ask.listed || !("text" in words))) {
      form.current?.querySelector<HTMLElement>(ask.listed ? "input" : "textarea")?.focus();
      return announce(ask.listed ? text.chooseFirst : text.answerFirst);
    }
    void send({ ...words, ...option, ...(again && { same_next_time: again }) });
  };
  const choose = (option: AskOption): void => {
    const chosen = draft.option === option.name ? undefined : option;
    change({ option: chosen?.name, text: wordsBeside(chosen, ask.options, draft.text) });
  };
  useCardKeys(ask.id, {
    ...Object.fromEntries(ask.options.slice(0, 9).map((option, at) => [String(at + 1), () => choose(option)])),
    // Words are sent from their own field.
    Enter: () => (draft.option === undefined ? announce(text.answerFirst) : form.current?.requestSubmit()),
  });

  const hasOptions = ask.options.length > 0;
  const label = hasOptions ? (draft.option === undefined ? text.orWrite : text.alsoWrite) : text.yourAnswer;
  return (
    <form
      ref={form}
      class={styles.form}
      aria-busy={sending}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {hasOptions && <ReadyAnswers legend={null} options={ask.options} chosen={draft.option} onChoose={choose} />}
      {/* Where only an option is an answer, words alone would be refused. */}
      {(!ask.listed || draft.option !== undefined) && (
        <Written label={label} value={draft.text ?? ""} onChange={(words) => change({ text: words })} onSend={submit} />
      )}
      <Facts ask={ask} />
      <NextTime ask={ask} on={again} onChange={setAgain} />
      <Send id={ask.id} refused={refused?.says} sending={sending} />
    </form>
  );
}

/** The agent's offers, of which one is chosen; those without a legend in sight have the keys 1 to 9. */
export function ReadyAnswers(props: {
  legend: string | null;
  options: readonly AskOption[];
  chosen: string | undefined;
  onChoose: (option: AskOption) => void;
}) {
  return (
    <fieldset class={formStyles.options}>
      <legend class={props.legend === null ? "unseen" : "muted"}>{props.legend ?? text.ready}</legend>
      {props.options.map((option, at) => (
        <label key={option.name} class={ownStyles.option}>
          <input
            type="radio"
            name="option"
            class="unseen"
            checked={props.chosen === option.name}
            onClick={() => props.onChoose(option)}
          />
          <kbd aria-hidden="true">{props.legend === null && at < 9 ? at + 1 : "·"}</kbd>
          <span class={styles.offer} dir="auto">
            {option.title}
            {option.description !== null && <span class={styles.says}>{option.description}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Words of one's own; `w` puts the cursor there. */
export function Written(props: {
  label: string;
  value: string;
  onChange: (words: string) => void;
  onSend: () => void;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  const { settled } = useDeliberate("reply");
  // It has the key at once: one that comes too early begins no conversation either.
  useKeys({ w: () => (settled ? field.current?.focus() : undefined) }, { names: { w: "write" } });
  return (
    <div class={formStyles.words}>
      <label for="reply">{props.label}</label>
      <textarea
        ref={field}
        id="reply"
        dir="auto"
        rows={5}
        maxLength={40_000}
        placeholder={text.placeholder}
        value={props.value}
        aria-describedby={hasKeyboard ? "reply-hint" : undefined}
        onInput={(event) => props.onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
          const sends = hasKeyboard ? !event.shiftKey : event.ctrlKey || event.metaKey;
          if (event.key !== "Enter" || event.isComposing || !sends) return;
          event.preventDefault();
          props.onSend();
        }}
      />
      {hasKeyboard && (
        <p class={formStyles.hint} id="reply-hint">
          {text.enterHint}
        </p>
      )}
    </div>
  );
}

/** Whether the answer is given again, where that may be. */
export function NextTime({ ask, on, onChange }: { ask: WholeAsk; on: boolean; onChange: (on: boolean) => void }) {
  if (ask.keep_until === null) return null;
  return (
    <label class={styles.tick}>
      <input type="checkbox" checked={on} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>
        {text.nextTime}
        <small class="muted">{text.nextTimeLead(ask.agent, ask.keep_until)}</small>
      </span>
    </label>
  );
}

/** Under the thumb, with what went wrong above it; a press that was for the card before sends nothing. */
export function Send({ id, refused, sending }: { id: string; refused: string | undefined; sending: boolean }) {
  const deliberate = useDeliberate(id);
  return (
    <>
      {refused !== undefined && (
        <p role="alert" class={styles.alert} dir="auto">
          {refused}
        </p>
      )}
      <div class={ownStyles.bar} onPointerDown={deliberate.onPointerDown}>
        <button
          type="submit"
          class="primary"
          aria-disabled={!deliberate.settled}
          onClick={(event) => deliberate.isDeliberate() || event.preventDefault()}
        >
          {sending ? text.sending : text.send}
        </button>
      </div>
    </>
  );
}
