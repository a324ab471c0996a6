import { text } from "../text.ts";
import styles from "./confidence.module.css";

/** Five steps from a guess to certain; none of them is chosen unless somebody does. */
export function Confidence(props: { value: number | undefined; onChange: (value: number | undefined) => void }) {
  const { value, onChange } = props;
  return (
    <fieldset class={styles.confidence}>
      <legend>
        {text.question.confidence} <span class="muted">{text.question.optional}</span>
      </legend>
      <div class={styles.steps}>
        {text.question.confidences.map((label, index) => {
          const step = index + 1;
          return (
            <label key={step} class={styles.step} data-filled={value !== undefined && step <= value}>
              <input
                type="radio"
                name="confidence"
                checked={value === step}
                onChange={() => onChange(step)}
                aria-label={label}
                class="unseen"
              />
              <span aria-hidden="true" />
            </label>
          );
        })}
      </div>
      <p class={styles.chosen}>
        <span>{value === undefined ? text.question.confidences[0] : text.question.confidences[value - 1]}</span>
        {value === undefined ? (
          <span>{text.question.confidences.at(-1)}</span>
        ) : (
          <button type="button" class="quiet" onClick={() => onChange(undefined)}>
            {text.question.clear}
          </button>
        )}
      </p>
    </fieldset>
  );
}
