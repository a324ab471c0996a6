import { useState } from "preact/hooks";
import { text } from "../text.ts";
import { announce } from "./announcer.tsx";
import styles from "./copyable.module.css";

/** Puts the words on the clipboard and says whether that worked; pages without https may not. */
export async function copy(words: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(words);
    announce(text.copied);
    return true;
  } catch {
    announce(text.couldNotCopy);
    return false;
  }
}

/** Something to be typed elsewhere, whole and easy to take along. */
export function Copyable({ label, words }: { label: string; words: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div class={styles.copyable}>
      <pre dir="ltr" tabIndex={0} role="region" aria-label={label}>
        {words}
      </pre>
      <button type="button" class="quiet" onClick={() => void copy(words).then(setCopied)}>
        {copied ? text.copied : text.copy}
        <span class="unseen"> {label}</span>
      </button>
    </div>
  );
}
