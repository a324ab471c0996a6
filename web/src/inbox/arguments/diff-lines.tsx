import styles from "./diff-lines.module.css";
import type { DiffLine } from "../wire.ts";

/** Removed and added lines, which differ in their signs and their colours; it is text all the same. */
export function DiffLines({ lines, label }: { lines: readonly DiffLine[]; label: string }) {
  return (
    <pre class={styles.diff} dir="ltr" tabIndex={0} role="region" aria-label={label}>
      {lines.map(({ sign, text }, at) => (
        <span key={at} data-sign={sign}>
          {text}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
