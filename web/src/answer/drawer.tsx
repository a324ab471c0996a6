import { useEffect } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { later } from "../parts/later.tsx";
import { useFeed } from "../queries.ts";
import { createStore } from "../store.ts";
import { text } from "../text.ts";
import styles from "./answer-room.module.css";

/** The list is loaded by itself: on a phone the first question is on screen without it. */
export const List = later(async () => (await import("./list.tsx")).List);

const MARK = "list-of-questions";
/** Whether the list lies over the question. It has an entry of its own in the history, so that Back closes it. */
const isOpen = createStore(history.state === MARK);

/** Lays the list of questions over the question. */
function open(): void {
  history.pushState(MARK, "");
  isOpen.set(true);
}

function close(): void {
  if (history.state === MARK) history.back();
  else isOpen.set(false);
}

/** Opens the list; it says how many questions there are as far as they are read. */
export function ListButton() {
  const { data } = useFeed();
  const count = data?.questions.filter((one) => !one.gone).length ?? 0;
  return (
    <button type="button" class={`quiet ${styles.opener}`} aria-haspopup="dialog" onClick={open}>
      <Icon name="questions" />
      <span class={styles.word}>{text.feed.title}</span>
      <span>{text.feed.count(count, typeof data?.next_cursor === "string")}</span>
    </button>
  );
}

/** The list of questions as a drawer. A row takes the drawer's place in the history. */
export function Drawer({ current }: { current: string }) {
  const shown = isOpen.use();
  useEffect(() => {
    const shut = (): void => isOpen.set(false);
    addEventListener("popstate", shut);
    return () => {
      removeEventListener("popstate", shut);
      shut();
    };
  }, []);
  return (
    <Dialog title={text.feed.title} open={shown} onClose={close}>
      <List current={current} onOpen={() => isOpen.set(false)} />
    </Dialog>
  );
}
