import type { ComponentChildren } from "preact";
import styles from "./in-english.module.css";

/** A part of the app whose texts are in English alone, marked so for screen readers and in its direction. */
export function InEnglish({ children }: { children: ComponentChildren }) {
  return (
    <div class={styles.part} lang="en" dir="ltr">
      {children}
    </div>
  );
}
