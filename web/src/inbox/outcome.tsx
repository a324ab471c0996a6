import { useEffect } from "preact/hooks";
import { besideList } from "../filter.ts";
import { later } from "../parts/later.tsx";
import { Link, useLocation } from "../router.tsx";
import { Kept } from "../parts/notice.tsx";
import styles from "./ask.module.css";
import { useCardKeys } from "./card-keys.ts";
import { dropAskDraft, readAskDraft, wordsOfDraft } from "./draft.ts";
import { Arguments } from "./arguments/arguments.tsx";
import { Call } from "./call.tsx";
import { CallOutcome } from "./call-outcome.tsx";
import { Changes } from "./arguments/changes.tsx";
import { Facts } from "./parts.tsx";
import { endOf, ownPress } from "./pressed.ts";
import { AgentRequestWords } from "./agent-request-words.tsx";
import { text } from "./text.ts";
import type { By, ListedAsk, WholeAsk } from "./wire.ts";

/** It shows after a press, and is there by then. */
const UndoHere = later(async () => (await import("./undo.tsx")).UndoHere);

const PlanEnd = later(async () => (await import("./plan/plan-card.tsx")).PlanEnd);

/** True when the person in front of the screen is the one who decided. */
export function isMine(ask: WholeAsk, by: By | null): boolean {
  return by?.kind === "person" && (ask.decisions.at(-1)?.mine ?? false);
}

/** How an ask ended, who decided, and the comment; words begun here and never sent stay in sight. */
export function Outcome({ ask, next }: { ask: WholeAsk; next: ListedAsk | undefined }) {
  const [, go] = useLocation();
  const onward = besideList(next ? `/inbox/${next.id}` : "/inbox");
  // Behind the last one stands what was passed over, to which no key leads on.
  useCardKeys(ask.id, next ? { Enter: () => go(onward) } : {}, { names: { Enter: "next" } });
  const { outcome } = ask;
  const mine = isMine(ask, outcome?.by ?? null);
  const isPressed = ownPress(ask) !== undefined;
  useEffect(() => void UndoHere.load(), []);
  // The draft of a decision that can be undone no longer has been sent.
  useEffect(() => void (mine && dropAskDraft(ask.id)), [mine]);
  const begun = mine || isPressed ? "" : wordsOfDraft(readAskDraft(ask.id));
  return (
    <>
      <div
        class={styles.outcome}
        data-approved={(isPressed ? ownPress(ask)?.approved : outcome?.approved) ?? undefined}
        role="status"
      >
        <p>{endOf(ask, mine)}</p>
        {ask.plan !== null && <PlanEnd ask={ask} plan={ask.plan} />}
      </div>
      <CallOutcome agent={ask.agent} end={ask.call_outcome} />
      {isPressed && <UndoHere id={ask.id} />}
      {outcome?.option != null && <Kept label={text.state.option} words={outcome.option} />}
      {outcome?.comment != null && <Kept label={text.state.comment} words={outcome.comment} />}
      {(outcome?.value ?? outcome?.text) != null && (
        <Kept
          label={mine ? text.state.yourWords : text.state.theirWords}
          words={outcome?.value ?? outcome?.text ?? ""}
        />
      )}
      {outcome?.arguments && (
        <section class={styles.ran}>
          <p>
            <bdi>{outcome.sentence}</bdi>
          </p>
          <Changes before={ask.arguments ?? []} after={outcome.arguments} />
        </section>
      )}
      {begun !== "" && <Kept label={text.state.kept} words={begun} />}
      <div class={styles.steps}>
        <Link href={onward} class="button primary">
          {next ? text.ask.next : text.ask.toList}
        </Link>
      </div>
      {outcome?.arguments ? (
        <section>
          <Arguments rows={outcome.arguments} label={text.state.ran} />
        </section>
      ) : (
        ask.kind === "approval" && <Call ask={ask} />
      )}
      {ask.kind === "approval" && <AgentRequestWords ask={ask} />}
      <Facts ask={ask} />
    </>
  );
}
