import { useState } from "preact/hooks";
import { besideList } from "../filter.ts";
import { moment } from "../moment.ts";
import { Link } from "../router.tsx";
import styles from "./ask.module.css";
import { useCardKeys } from "./card-keys.ts";
import { HandOn } from "./hand-on.tsx";
import { Snooze } from "./snooze.tsx";
import { text } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

/** The ways in which a waiting ask leaves the person's list undecided: until a time, or to somebody else. */
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
      {(isAside || isOpen !== undefined) && <Snooze ask={ask} open={isOpen === true} onClose={() => setOpen(false)} />}
    </>
  );
}

/** A decision, a snooze or a hand-on that has led here can be looked at again. */
export function Before({ ask }: { ask: WholeAsk }) {
  return (
    <Link href={besideList(`/inbox/${ask.id}`)} class="small">
      {ask.handed_on && !ask.outcome
        ? text.handedOn(ask.handed_on.to, null)
        : ask.snoozed_until === null || ask.outcome
          ? text.outcome(ask, text.who(ask.outcome?.by ?? null, true)) || text.state.counted
          : text.snoozed(moment(ask.snoozed_until))}
      : <bdi>{ask.outcome?.sentence ?? ask.sentence}</bdi>
    </Link>
  );
}
