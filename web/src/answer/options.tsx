import { useRef } from "preact/hooks";
import { useKeys } from "../keys.ts";
import type { Deliberate } from "../parts/deliberate.ts";
import { text } from "../text.ts";
import styles from "./answer-form.module.css";

/** The key that chooses an option; the tenth is chosen by 0. */
function numberKey(index: number): string {
  return String((index + 1) % 10);
}

/** The options of a question: buttons, because a press sends, and walking through them must not. */
export function Options(props: {
  options: readonly string[];
  value: number | undefined;
  isPending: boolean;
  deliberate: Deliberate;
  onChoose: (index: number) => void;
}) {
  const { options, value, isPending, deliberate, onChoose } = props;
  const list = useRef<HTMLFieldSetElement>(null);
  const choose = (index: number): void => {
    if (!deliberate.isDeliberate()) return;
    // The focus follows a key too, so that Escape leaves it at the option and not at a button that goes.
    list.current?.querySelectorAll("button")[index]?.focus({ preventScroll: true });
    onChoose(index);
  };
  useKeys(Object.fromEntries(options.slice(0, 10).map((_, index) => [numberKey(index), () => choose(index)])));
  return (
    <fieldset ref={list} class={styles.options} onPointerDown={deliberate.onPointerDown}>
      <legend class="unseen">{text.question.options}</legend>
      {options.map((option, index) => (
        <button
          key={index}
          type="button"
          class={styles.option}
          aria-pressed={index === value}
          aria-disabled={!deliberate.settled}
          data-pending={(isPending && index === value) || undefined}
          onClick={() => choose(index)}
        >
          <kbd aria-hidden="true">{numberKey(index)}</kbd>
          <span dir="auto">{option}</span>
        </button>
      ))}
      <p class={styles.hint}>{text.question.pressSends}</p>
    </fieldset>
  );
}
