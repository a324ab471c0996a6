import { partsOf } from "./code-blocks.ts";
import styles from "./prose.module.css";

/** Somebody's words, line by line as they were written, with blocks of code as such. */
export function Prose({ words }: { words: string }) {
  return (
    <div class={styles.prose}>
      {partsOf(words).map(({ text, language }, at) =>
        language === null ? (
          <p key={at} dir="auto">
            {text}
          </p>
        ) : (
          <pre key={at} dir="ltr" data-language={language || undefined}>
            <code>{text}</code>
          </pre>
        ),
      )}
    </div>
  );
}
