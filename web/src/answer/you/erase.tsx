import { useState } from "preact/hooks";
import { people, reconnect } from "../../api.ts";
import { forget } from "../../device.ts";
import { draftsOfAuthor } from "../../author.ts";
import { discardOwn } from "../../outbox.ts";
import { announce } from "../../parts/announcer.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { turnOffPush } from "../../push.ts";
import { queries } from "../../query/query.ts";
import { text } from "../../text.ts";
import { text as youText } from "./text.ts";
import styles from "./me.module.css";

/** Ends the participant, on the server and on this device. */
export function Erase() {
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState(false);

  const erase = async (): Promise<void> => {
    try {
      await people.eraseMe();
    } catch {
      return setFailed(true);
    }
    await turnOffPush().catch(() => {});
    await discardOwn();
    for (const kept of [draftsOfAuthor(), "feed", "device", "interval"]) forget(kept);
    reconnect();
    setAsking(false);
    announce(youText.erase.done);
    await queries.invalidateQueries();
  };

  return (
    <>
      <p class="muted">{youText.erase.lead}</p>
      <div>
        <button type="button" class="alarm" onClick={() => setAsking(true)}>
          {youText.erase.button}
        </button>
      </div>
      <Dialog title={youText.erase.confirmTitle} open={asking} onClose={() => setAsking(false)}>
        <p class="muted">{youText.erase.lead}</p>
        {failed && <p role="alert">{youText.erase.failed}</p>}
        <div class={styles.field}>
          <button type="button" class="alarm" onClick={() => void erase()}>
            {youText.erase.confirm}
          </button>
          <button type="button" class="quiet" onClick={() => setAsking(false)}>
            {text.cancel}
          </button>
        </div>
      </Dialog>
    </>
  );
}
