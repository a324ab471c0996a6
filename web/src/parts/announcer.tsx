import { createStore } from "../store.ts";
import styles from "./announcer.module.css";

/** The number makes the same words twice two announcements. */
const said = createStore({ words: "", number: 0 });
let fade: ReturnType<typeof setTimeout> | undefined;

/** The words are read out, and shown for a few seconds, without taking the focus. */
export function announce(words: string): void {
  said.set({ words, number: said.get().number + 1 });
  clearTimeout(fade);
  fade = setTimeout(() => said.set({ words: "", number: said.get().number + 1 }), 5000);
}

export function Announcer() {
  const { words, number } = said.use();
  return (
    <div class={styles.announcer} role="status" aria-live="polite">
      {words && (
        <p key={number} class={styles.words}>
          {words}
        </p>
      )}
    </div>
  );
}
