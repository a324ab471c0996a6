import type { JSX } from "preact";
import { partsOf } from "./code-blocks.ts";
import { emphasisOf } from "./emphasis.ts";
import styles from "./prose.module.css";

/** Somebody's words, line by line as they were written, with code as such, and emphasis as they marked it. */
export function Prose({ words }: { words: string }) {
  return (
    <div class={styles.prose}>
      {partsOf(words).map(({ text, language }, at) =>
        language === null ? (
          <p key={at} dir="auto">
            <Emphasised words={text} />
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

/** Words within a line, with the code and the emphasis that their writer marked. */
export function Emphasised({ words }: { words: string }): JSX.Element {
  return (
    <>
      {emphasisOf(words).map(({ kind: Tag, text }, at) =>
        Tag === "plain" ? (
          text
        ) : (
          <Tag key={at} dir={Tag === "code" ? "ltr" : undefined}>
            {Tag === "code" ? text : <Emphasised words={text} />}
          </Tag>
        ),
      )}
    </>
  );
}
