import { createStore } from "../store.ts";
import styles from "./announcer.module.css";

/** The number makes the same words twice two announcements. */
const announcement = createStore({ words: "", number: 0 });
let fade: ReturnType<typeof setTimeout> | undefined;

/** The words are read out, and shown for a few seconds, without taking the focus. */
export function announce(words: string): void {
  announcement.set({ words, number: announcement.get().number + 1 });
  clearTimeout(fade);
  fade = setTimeout(() => announcement.set({ words: "", number: announcement.get().number + 1 }), 5000);
}

export function Announcer() {
  const { words, number } = announcement.use();
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
