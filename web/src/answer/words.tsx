import { hasKeyboard } from "../keys.ts";
import { text } from "../text.ts";
import styles from "./answer-form.module.css";

const MAX_CHARACTERS = 5000;

/** The field for an answer in words. Enter sends them where there is a keyboard. */
export function Words(props: { value: string; onChange: (words: string) => void; onSend: () => void }) {
  const { value, onChange, onSend } = props;
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
