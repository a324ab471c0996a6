import { Kept } from "../parts/notice.tsx";
import { EndWord, type End } from "./call-end.tsx";
import styles from "./call-end.module.css";
import { Asked } from "./parts.tsx";
import { text } from "./text.ts";

/** The outcome of an approved call, since when, and the agent's words about it. */
export function CallOutcome({ agent, end }: { agent: string; end: End | null }) {
  if (end === null) return null;
  return (
    <section class={styles.outcome} aria-label={text.callEndLabel}>
      <p>
        <EndWord state={end.state} /> {end.state !== "not_reported" && <Asked at={end.at} />}
      </p>
      {end.text !== undefined && <Kept label={text.theirEndWords(agent)} words={end.text} />}
    </section>
  );
}
