import styles from "./choice.module.css";

/** A few short choices side by side, of which one is taken. */
export function Choice<T extends string>(props: {
  legend: string;
  options: readonly { value: T; label: string }[];
  value: T;
  onChoose: (value: T) => void;
  hideLegend?: boolean;
}) {
  const name = `choice-${props.legend}`;
  return (
    <fieldset class={styles.choice}>
      <legend class={props.hideLegend ? "unseen" : undefined}>{props.legend}</legend>
      <div class={styles.options}>
        {props.options.map(({ value, label }) => (
          <label key={value} class={styles.option}>
            <input
              type="radio"
              name={name}
              value={value}
              checked={value === props.value}
              onChange={() => props.onChoose(value)}
            />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
