import { useState } from "preact/hooks";
import { serverNow } from "../api.ts";
import { moment } from "../moment.ts";
import { announce } from "../parts/announcer.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { queries } from "../query/query.ts";
import { inbox } from "./api.ts";
import styles from "./ask.module.css";
import { explain } from "./decide.ts";
import { decided, refresh } from "./queries.ts";
import { snoozeTimes } from "./snooze-times.ts";
import { text } from "./snooze-text.ts";
import { text as inboxText } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

/** Until when the person puts a waiting ask aside; or, where they have, until when that is and the way back. */
export function Snooze({ ask, open, onClose }: { ask: WholeAsk; open: boolean; onClose: () => void }) {
  const [failed, setFailed] = useState<string>();
  const [sending, setSending] = useState(false);

  const send = async (until: number | null): Promise<void> => {
    if (sending) return;
    setSending(true);
    setFailed(undefined);
    try {
      const { snoozed_until } =
        until === null ? await inbox.endSnooze(ask.id) : await inbox.snooze(ask.id, new Date(until));
      const after = { ...ask, snoozed_until };
      queries.setQueryData(["ask", ask.id], after);
      announce(until === null ? text.awake : text.done);
      onClose();
      if (until !== null) decided.set(after);
      refresh(ask.id);
    } catch (error) {
      setFailed(explain(error).says);
    }
    setSending(false);
  };
  const alert = failed !== undefined && (
    <p role="alert" class={styles.alert} dir="auto">
      {failed}
    </p>
  );

  return (
    <>
      {ask.snoozed_until !== null && (
        <div class={styles.aside}>
          {!open && alert}
          <span>{inboxText.snoozed(moment(ask.snoozed_until))}</span>
          <button type="button" onClick={() => void send(null)}>
            {text.wake}
          </button>
        </div>
      )}
      <Dialog title={text.title} open={open} onClose={onClose}>
        <div class={styles.confirm} aria-busy={sending}>
          <p class="muted">{text.lead}</p>
          {open && alert}
          {open &&
            snoozeTimes(serverNow(), ask.expires_at).map(({ name, at }) => (
              <button key={name} type="button" class={styles.way} onClick={() => void send(at)}>
                {text.times[name]}
                <small class={styles.says}>{moment(at)}</small>
              </button>
            ))}
        </div>
      </Dialog>
    </>
  );
}
