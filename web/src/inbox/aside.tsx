import { useState } from "preact/hooks";
import { besideList } from "../filter.ts";
import { moment } from "../moment.ts";
import { later } from "../parts/later.tsx";
import { Link } from "../router.tsx";
import { AskBack } from "./ask-back.tsx";
import styles from "./ask.module.css";
import { useCardKeys } from "./card-keys.ts";
import { FreezeAgent } from "./freezes.tsx";
import { HandOn } from "./hand-on.tsx";
import { endOf, isFree } from "./pressed.ts";
import { useAsk } from "./queries.ts";
import { Snooze } from "./snooze.tsx";
import { text } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

const NoteToAgent = later(async () => (await import("./note.tsx")).NoteToAgent);

/** The ways to see to a waiting ask without a decision: until a time, by somebody else, or by a question to its agent. */
export function Aside({ ask }: { ask: WholeAsk }) {
  /** Undefined until the times were open once. */
  const [isOpen, setOpen] = useState<boolean>();
  const isAside = ask.snoozed_until !== null;
  const isHandedOn = ask.handed_on !== null;
  const open = (): void => setOpen(true);
  const hasKeys = useCardKeys(ask.id, isAside || isHandedOn ? {} : { s: open });
  return (
    <>
      {!isAside && !isHandedOn && (
        <button
          type="button"
          class={`quiet ${styles.snooze}`}
          onClick={open}
          aria-keyshortcuts={hasKeys ? "s" : undefined}
        >
          {text.snooze}
        </button>
      )}
      <HandOn ask={ask} />
      <AskBack ask={ask} />
      {ask.notes !== null && ask.may_decide && <NoteToAgent ask={ask} />}
      {ask.may_freeze && <FreezeAgent ask={ask} />}
      {(isAside || isOpen !== undefined) && <Snooze ask={ask} open={isOpen === true} onClose={() => setOpen(false)} />}
    </>
  );
}

/** A decision, a snooze or a hand-on that has led here can be looked at again. */
export function Before({ ask: decidedAsk }: { ask: WholeAsk }) {
  const { data: ask = decidedAsk } = useAsk(decidedAsk.id);
  const isAside = ask.snoozed_until !== null || ask.handed_on !== null;
  // A decision that was undone is waited for again.
  if (ask.state === "open" && isFree(ask) && !isAside) return null;
  const end = endOf(ask, true);
  return (
    <Link href={besideList(`/inbox/${ask.id}`)} class={`small ${styles.before}`}>
      {end !== ""
        ? end
        : ask.handed_on
          ? text.handedOn(ask.handed_on.to, null)
          : ask.snoozed_until === null
            ? text.state.counted
            : text.snoozed(moment(ask.snoozed_until))}
      : <bdi>{ask.outcome?.sentence ?? ask.sentence}</bdi>
    </Link>
  );
}
