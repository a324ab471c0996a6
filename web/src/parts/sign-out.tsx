import { useState } from "preact/hooks";
import { signOut, unfinished, type Unfinished } from "../session.ts";
import { text } from "../text.ts";
import { Dialog } from "./dialog.tsx";
import { text as words } from "./sign-out-text.ts";
import styles from "./sign-out.module.css";

/** Signs out. A person with something unsent is asked first what shall become of it. */
export function SignOut({ label }: { label: string }) {
  const [left, setLeft] = useState<Unfinished | null>(null);
  const [failed, setFailed] = useState("");

  const leave = async (how?: "send" | "discard"): Promise<void> => {
    setFailed("");
    try {
      if (!(await signOut(how))) setFailed(words.notSent);
    } catch {
      setFailed(words.failed);
    }
  };
  const begin = async (): Promise<void> => {
    const found = await unfinished();
    if (found.answers + found.drafts === 0) await leave();
    else setLeft(found);
  };

  return (
    <>
      <button type="button" class="quiet" onClick={() => void begin()}>
        {label}
      </button>
      {left === null && failed && <p role="alert">{failed}</p>}
      <Dialog title={words.title} open={left !== null} onClose={() => setLeft(null)}>
        {left && <p class="muted">{words.left(left.answers, left.drafts)}</p>}
        {failed && <p role="alert">{failed}</p>}
        <div class={styles.ways}>
          {left !== null && left.answers > 0 && (
            <button type="button" class="primary" onClick={() => void leave("send")}>
              {words.send}
            </button>
          )}
          <button type="button" class="alarm" onClick={() => void leave("discard")}>
            {words.discard}
          </button>
          <button type="button" class="quiet" onClick={() => setLeft(null)}>
            {text.cancel}
          </button>
        </div>
      </Dialog>
    </>
  );
}
