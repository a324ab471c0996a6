import { partsOf } from "../parts/code-blocks.ts";
import { text } from "../text.ts";
import styles from "./prompt.module.css";

/** So long a prompt is read like a letter, in the size of running text. */
const LONG = 280;

/** The words of a question: its first prose is the heading of the page, and a block of code is shown as such. */
export function Prompt({ words }: { words: string }) {
  const parts = partsOf(words.replace(/\r\n?/g, "\n"));
  const head = parts.findIndex(({ language }) => language === null);
  return (
    <div class={styles.prompt} data-long={words.length > LONG || undefined}>
      {head === -1 && <h1 class="unseen">{text.feed.title}</h1>}
      {parts.map(({ text: shown, language }, at) =>
        language !== null ? (
          <pre key={at} dir="ltr" data-language={language || undefined}>
            <code>{shown}</code>
          </pre>
        ) : at === head ? (
          <h1 key={at} dir="auto">
            {shown}
          </h1>
        ) : (
          <p key={at} dir="auto">
            {shown}
          </p>
        ),
      )}
    </div>
  );
}
