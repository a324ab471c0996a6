import { Icon } from "../parts/icon.tsx";
import styles from "./call-end.module.css";
import { text } from "./text.ts";
import type { ListedAsk } from "./wire.ts";

export type End = NonNullable<ListedAsk["call_outcome"]>;

/** The states that somebody who approved the call should look at. */
const TROUBLED: readonly End["state"][] = ["failed", "unknown"];

/** The outcome of an approved call, in a word with its icon; nothing while there is no news of it. */
export function CallEnd({ end }: { end: End | null }) {
  if (end === null || end.state === "not_reported" || end.state === "awaited") return null;
  return <EndWord state={end.state} />;
}

/** The state of an approved call in a word, with its icon. */
export function EndWord({ state }: Pick<End, "state">) {
  return (
    <span class={styles.end} data-end={state}>
      {state === "done" && <Icon name="check" />}
      {TROUBLED.includes(state) && <Icon name="warning" />}
      {text.callEnd[state]}
    </span>
  );
}
