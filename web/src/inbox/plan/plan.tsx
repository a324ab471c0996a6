import type { ComponentChildren, RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { announce } from "../../parts/announcer.tsx";
import styles from "../ask.module.css";
import { isAtLineEnd, useCardKeys } from "../card-keys.ts";
import type { Intent } from "../confirm.tsx";
import { useDecide } from "../decide.ts";
import { useAskDraft } from "../draft.ts";
import barStyles from "../form.module.css";
import { text as inboxText } from "../text.ts";
import type { Plan, WholeAsk } from "../wire.ts";
import { Calls } from "./calls.tsx";
import { ConfirmPlan } from "./confirm-plan.tsx";
import { Evidence } from "./evidence.tsx";
import { seenName, toggledAt, unseenAmong } from "./part.ts";
import { text } from "./plan-text.ts";

/**
 * A plan to be approved, in whole or up to a call, or rejected: its evidence, its calls in their order, then `children`.
 * The buttons that decide stay in sight below.
 */
export function PlanApproval({ ask, plan, children }: { ask: WholeAsk; plan: Plan; children: ComponentChildren }) {
  const [draft, change] = useAskDraft(ask.id);
  const deciding = useDecide(ask.id);
  /** Null once the sheet was closed again, which stays on the page. */
  const [intent, setIntent] = useState<Intent | null>();
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const [mustLook, setMustLook] = useState(false);
  const list = useRef<HTMLElement>(null);
  const of = plan.calls.length;
  const { left = of } = draft;
  const unseen = unseenAmong(plan, left, seen);

  const toggle = (place: number): void => {
    const next = toggledAt(place, left, of);
    change({ left: next === of ? undefined : next });
    announce(next === of ? text.isBack(of) : text.tookOut(next + 1, of));
  };
  const intend = (approve: boolean, isAtEnd: boolean): void => {
    if (!approve || left === 0) return setIntent({ approve: false, isAtEnd });
    if (unseen === undefined) return setIntent({ approve: true, isAtEnd });
    setMustLook(true);
    openCall(list.current, unseen.place);
  };
  const hasKeys = useCardKeys(
    ask.id,
    { a: () => intend(true, true), r: () => intend(false, true), ...keysIn(list, toggle) },
    { names: { x: "takeOut" } },
  );
  const alerts = [
    deciding.refused?.says,
    mustLook && unseen ? inboxText.unseen(unseen.name) : undefined,
    left === 0 ? text.allOut : undefined,
  ].filter((words) => words !== undefined);
  return (
    <div class={styles.form} aria-busy={deciding.sending}>
      <Evidence ask={ask} pieces={plan.evidence} />
      <Calls
        plan={plan}
        left={left}
        element={list}
        onToggle={toggle}
        onOpen={(place, name) => setSeen((before) => new Set([...before, seenName(place, name)]))}
      />
      {children}
      <Bar alerts={alerts} left={left} of={of} mayApprove={unseen === undefined} hasKeys={hasKeys} onIntend={intend} />
      {intent !== undefined && (
        <ConfirmPlan
          ask={ask}
          plan={plan}
          left={left}
          intent={intent}
          draft={draft}
          onChange={change}
          onClose={() => setIntent(null)}
          onDecide={deciding.send}
        />
      )}
    </div>
  );
}

/** No and yes, which says to how much, under the thumb; each has a key. */
function Bar(props: {
  alerts: readonly string[];
  left: number;
  of: number;
  mayApprove: boolean;
  hasKeys: boolean;
  onIntend: (approve: boolean, isAtEnd: boolean) => void;
}) {
  const { alerts, left, of, mayApprove, hasKeys, onIntend } = props;
  return (
    <div class={barStyles.bar}>
      {alerts.map((words) => (
        <p key={words} role="alert" class={styles.alert} dir="auto">
          {words}
        </p>
      ))}
      <div class={styles.decide}>
        <button
          type="button"
          class="alarm"
          onClick={(event) => onIntend(false, isAtLineEnd(event))}
          aria-keyshortcuts={hasKeys ? "r" : undefined}
        >
          {inboxText.reject}
        </button>
        {left > 0 && (
          <button
            type="button"
            class={styles.approve}
            onClick={(event) => onIntend(true, isAtLineEnd(event))}
            aria-keyshortcuts={hasKeys ? "a" : undefined}
            aria-disabled={!mayApprove}
          >
            {text.approve(left, of)}
          </button>
        )}
      </div>
    </div>
  );
}

type List = RefObject<HTMLElement | null>;

/** The keys of the calls: j and k move between them, x takes the one in which the focus is out, or puts it back. */
const keysIn = (list: List, toggle: (place: number) => void) => ({
  j: () => moveIn(list, 1),
  k: () => moveIn(list, -1),
  x: () => {
    const place = placeIn(list);
    return place === null ? false : toggle(place);
  },
});

const linesOf = ({ current }: List): HTMLElement[] => [
  ...(current?.querySelectorAll<HTMLElement>("[data-call] > details > summary") ?? []),
];

/** Returns the place of the call in which the focus is, if it is in one. */
function placeIn({ current }: List): number | null {
  const { activeElement: active } = document;
  const call = current?.contains(active) && active?.closest<HTMLElement>("[data-call]");
  return call ? Number(call.dataset["call"]) : null;
}

/** The focus goes to the next call; false behind the last and before the first, where the key is the list's. */
function moveIn(list: List, step: 1 | -1): boolean {
  const place = placeIn(list) ?? 0;
  const line = linesOf(list)[place - 1 + step];
  line?.focus();
  return line !== undefined;
}

function openCall(list: HTMLElement | null, place: number): void {
  const details = list?.querySelector<HTMLDetailsElement>(`[data-call="${place}"] > details`);
  if (!details) return;
  details.open = true;
  details.querySelector("summary")?.focus();
}
