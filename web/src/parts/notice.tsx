import type { ComponentChildren } from "preact";
import { text } from "../text.ts";
import styles from "./notice.module.css";

/** A whole screen that says what is the case, and offers one next step. */
export function Notice(props: { title: string; hint?: string; level?: 1 | 2; children?: ComponentChildren }) {
  const Heading = props.level === 2 ? "h2" : "h1";
  return (
    <section class={styles.notice}>
      <Heading>{props.title}</Heading>
      {props.hint && <p dir="auto">{props.hint}</p>}
      {props.children && <div class={styles.step}>{props.children}</div>}
    </section>
  );
}

/** The placeholder for something that is still being loaded. */
export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <div class={styles.loading} role="status">
      <span class="unseen">{text.loading}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class={styles.row} />
      ))}
    </div>
  );
}

/** Words somebody wrote, kept where they can be copied from. */
export function Kept({ label, words, children }: { label: string; words: string; children?: ComponentChildren }) {
  return (
    <figure class={styles.kept}>
      <figcaption>{label}</figcaption>
      <blockquote dir="auto">{words}</blockquote>
      {children}
    </figure>
  );
}
