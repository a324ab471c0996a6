import { useRef } from "preact/hooks";
import { hasKeyboard, useKeys } from "../keys.ts";
import { announce } from "../parts/announcer.tsx";
import formStyles from "../answer/answer-form.module.css";
import styles from "./ask.module.css";
import { useDecide } from "./decide.ts";
import { useAskDraft } from "./draft.ts";
import { Facts } from "./parts.tsx";
import { text } from "./text.ts";
import type { AskOption, WholeAsk } from "./wire.ts";

/** A question with ready-made answers, room for words, or both. */
export function Reply({ ask }: { ask: WholeAsk }) {
  const [draft, change] = useAskDraft(ask.id);
  const { send, sending, refused } = useDecide(ask.id);
  const form = useRef<HTMLFormElement>(null);

  const submit = (): void => {
    const words = draft.text?.trim() ? { text: draft.text } : {};
    const option = draft.option === undefined ? {} : { option: draft.option };
    if (!("option" in option) && (ask.listed || !("text" in words))) {
      form.current?.querySelector<HTMLElement>(ask.listed ? "input" : "textarea")?.focus();
      return announce(ask.listed ? text.chooseFirst : text.answerFirst);
    }
    void send({ ...words, ...option });
  };
  const choose = (option: AskOption): void => {
    const fill = option.interactive && !draft.text?.trim() ? (option.prompt_fill ?? undefined) : undefined;
    change({ option: draft.option === option.name ? undefined : option.name, ...(fill && { text: fill }) });
  };
  useKeys({
    ...Object.fromEntries(ask.options.slice(0, 9).map((option, at) => [String(at + 1), () => choose(option)])),
    Enter: () => form.current?.requestSubmit(),
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
      {hasOptions && (
        <fieldset class={formStyles.options}>
          <legend class="unseen">{text.ready}</legend>
          {ask.options.map((option, at) => (
            <label key={option.name} class={formStyles.option}>
              <input
                type="radio"
                name="option"
                class="unseen"
                checked={draft.option === option.name}
                onClick={() => choose(option)}
              />
              <kbd aria-hidden="true">{at < 9 ? at + 1 : "·"}</kbd>
              <span class={styles.offer}>
                {option.title}
                {option.description !== null && <span class={styles.says}>{option.description}</span>}
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {/* Where only an option is an answer, words alone would be refused. */}
      {(!ask.listed || draft.option !== undefined) && (
        <Written label={label} value={draft.text ?? ""} onChange={(words) => change({ text: words })} onSend={submit} />
      )}
      <Facts ask={ask} />
      <Send refused={refused?.says} sending={sending} />
    </form>
  );
}

export function Written(props: {
  label: string;
  value: string;
  onChange: (words: string) => void;
  onSend: () => void;
}) {
  return (
    <div class={formStyles.words}>
      <label for="reply">{props.label}</label>
      <textarea
        id="reply"
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

/** Under the thumb, with what went wrong above it. */
export function Send({ refused, sending }: { refused: string | undefined; sending: boolean }) {
  return (
    <>
      {refused !== undefined && (
        <p role="alert" class={styles.alert}>
          {refused}
        </p>
      )}
      <div class={formStyles.bar}>
        <button type="submit" class="primary">
          {sending ? text.sending : text.send}
        </button>
      </div>
    </>
  );
}
