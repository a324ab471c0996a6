import { useEffect, useState } from "preact/hooks";
import { serverNow } from "../api.ts";
import { besideList } from "../filter.ts";
import { useKeys } from "../keys.ts";
import { announce } from "../parts/announcer.tsx";
import { useLocation } from "../router.tsx";
import { inbox } from "./api.ts";
import { explain } from "./decide.ts";
import { dropAskDraft } from "./draft.ts";
import { pressed, type Pressed } from "./pressed.ts";
import { decided, refresh } from "./queries.ts";
import styles from "./undo.module.css";
import { text } from "./undo-text.ts";

/** Takes back what was pressed, and opens it again; `failed` says why that was not possible. */
function useUndo() {
  const [, go] = useLocation();
  const [sending, setSending] = useState(false);
  const [failed, setFailed] = useState<string>();
  const undo = async ({ ids, place }: Pick<Pressed, "ids" | "place">): Promise<void> => {
    if (sending) return;
    setSending(true);
    setFailed(undefined);
    try {
      const { asks } = await inbox.undo(ids);
      const undone = asks.filter((one) => one.undone).length;
      announce(undone === 0 ? text.nothing : text.undone(undone));
      pressed.set(null);
      decided.set(null);
      refresh(null);
      if (undone > 0) go(besideList(`/inbox/${place}`));
    } catch (error) {
      setFailed(text.failed(explain(error).says));
    }
    setSending(false);
  };
  return { undo: (one: Pick<Pressed, "ids" | "place">) => void undo(one), sending, failed };
}

/** The last press, above the thumb, with the way back while there is one. */
export function UndoBar() {
  const last = pressed.use();
  const { undo, sending, failed } = useUndo();
  useEffect(() => {
    if (!last) return;
    const timer = setTimeout(
      () => {
        last.ids.forEach(dropAskDraft);
        pressed.set(null);
      },
      Math.max(0, last.until - serverNow()),
    );
    return () => clearTimeout(timer);
  }, [last]);
  useKeys({ u: last ? () => undo(last) : undefined });
  if (!last) return null;
  return (
    <div class={styles.bar} aria-busy={sending} data-undo>
      <p dir="auto" role="status">
        <bdi>{last.says}</bdi> <span class="unseen">{text.hint}</span>
        {failed !== undefined && <span role="alert"> {failed}</span>}
      </p>
      <button type="button" class="primary" onClick={() => undo(last)} aria-keyshortcuts="u">
        {text.undo}
      </button>
    </div>
  );
}

/** The way back on the page of the ask itself, which is there also after a reload. */
export function UndoHere({ id }: { id: string }) {
  const { undo, sending, failed } = useUndo();
  const last = pressed.use();
  return (
    <div aria-busy={sending} class={styles.here}>
      <p class="muted">{text.soon}</p>
      {failed !== undefined && <p role="alert">{failed}</p>}
      {!last?.ids.includes(id) && (
        <button type="button" onClick={() => undo({ ids: [id], place: id })}>
          {text.undo}
        </button>
      )}
    </div>
  );
}
