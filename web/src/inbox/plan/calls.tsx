import type { Ref } from "preact";
import { useState } from "preact/hooks";
import { number } from "../../format.ts";
import { Icon } from "../../parts/icon.tsx";
import { Arguments } from "../arguments/arguments.tsx";
import { text as inboxText } from "../text.ts";
import { CallEnd } from "../call-end.tsx";
import type { Plan, PlannedCall } from "../wire.ts";
import styles from "./plan.module.css";
import { text } from "./plan-text.ts";
import { graveAmong } from "./part.ts";

/** So many places are named before the list. */
const MOST_NAMED = 12;

/** The calls of a plan in their order, of which the first `left` are in. */
export function Calls(props: {
  plan: Plan;
  left: number;
  element?: Ref<HTMLElement>;
  /** Takes a call and all behind it out, or puts all back; left out where nobody may. */
  onToggle?: (place: number) => void;
  onOpen?: (place: number, name: string) => void;
}) {
  const { plan, left, element, onToggle, onOpen } = props;
  const grave = graveAmong(plan, Infinity);
  const of = plan.calls.length;
  return (
    <section class={styles.calls} {...(element && { ref: element })}>
      <h2>{text.calls}</h2>
      {grave.length > 0 && of > 1 && (
        <p class={styles.risky}>
          <Icon name="warning" />
          <span>{text.risky(grave.length, placesOf(grave))}</span>
        </p>
      )}
      <ol>
        {plan.calls.map((call) => (
          <Call
            key={call.place}
            call={call}
            of={of}
            left={left}
            onToggle={onToggle && (() => onToggle(call.place))}
            onOpen={(name) => onOpen?.(call.place, name)}
          />
        ))}
      </ol>
    </section>
  );
}

const placesOf = (calls: readonly PlannedCall[]): string => {
  const named = calls.slice(0, MOST_NAMED).map(({ place }) => number(place));
  return named.join(", ") + (calls.length > MOST_NAMED ? ", …" : "");
};

/** One line, which opens to the arguments. The reasons of a risk show all the time. */
function Call(props: {
  call: PlannedCall;
  of: number;
  left: number;
  onToggle: (() => void) | undefined;
  onOpen: (name: string) => void;
}) {
  const { call, of, left, onToggle, onOpen } = props;
  const { place, fn, risk_reasons: reasons } = call;
  // Nobody draws the arguments of two hundred calls before somebody looks at them.
  const [open, setOpen] = useState(false);
  const isOut = place > left;
  const isFirstOut = place === left + 1;
  return (
    <li class={styles.call} data-call={place} data-out={isOut || undefined}>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <Line call={call} isOut={isOut} />
        {open && (
          <div class={styles.inside}>
            <code dir="ltr">{fn}</code>
            <Arguments rows={call.arguments} label={text.arguments(place)} within={`call-${place}-`} onOpen={onOpen} />
          </div>
        )}
      </details>
      {reasons.length > 0 && (
        <ul class={styles.reasons}>
          {reasons.map(({ kind, says }) => (
            <li key={kind + says}>
              {inboxText.risk.because[kind]} <bdi>{says}</bdi>
            </li>
          ))}
        </ul>
      )}
      {onToggle && (!isOut || isFirstOut) && (
        <button
          type="button"
          class="quiet"
          aria-label={isOut ? text.putBackOf(place, of) : text.takeOutOf(place, of)}
          onClick={onToggle}
        >
          {isOut ? text.putBack : text.takeOut}
        </button>
      )}
    </li>
  );
}

function Line({ call: { place, sentence, risk, call_outcome: end }, isOut }: { call: PlannedCall; isOut: boolean }) {
  return (
    <summary>
      <span class={styles.place}>{number(place)}</span>
      <span class={styles.line}>
        {isOut ? (
          <>
            <span class={styles.says}>{text.out}: </span>
            <del dir="auto">{sentence}</del>
          </>
        ) : (
          <bdi>{sentence}</bdi>
        )}
        <CallEnd end={end} />
        {risk !== "normal" && (
          <span class={styles.mark} data-risk={risk}>
            <Icon name={risk === "low" ? "check" : "warning"} />
            {inboxText.risk[risk]}
          </span>
        )}
      </span>
    </summary>
  );
}
