import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { besideList } from "../filter.ts";
import { Link } from "../router.tsx";
import questionStyles from "../answer/question.module.css";
import formStyles from "../answer/answer-form.module.css";
import { Icon } from "../parts/icon.tsx";
import { later } from "../parts/later.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { useTimeUp } from "../parts/time-left.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { codeOf } from "../queries.ts";
import { AgentRequestWords, Inquiries } from "./agent-request-words.tsx";
import { Approval } from "./approval.tsx";
import { PlanCard } from "./call.tsx";
import styles from "./ask.module.css";
import { Approvals, Waiting } from "./waiting.tsx";
import { Asked, Deadline, Facts } from "./parts.tsx";
import { Emphasised, Prose } from "../parts/prose.tsx";
import { isFree, ownPress } from "./pressed.ts";
import { useAsk, useInboxTitle } from "./queries.ts";
import { Reply } from "./reply.tsx";
import { runIn } from "./run-place.ts";
import { text } from "./text.ts";
import type { ListedAsk, WholeAsk } from "./wire.ts";

const loading = () => <Loading rows={3} />;

interface Place {
  id: string;
  /** The one that is opened after this. */
  next: ListedAsk | undefined;
  /** The one that was decided or put aside just before. */
  before: WholeAsk | undefined;
}

/** One ask, or the timeline of the run that one is part of. */
export function Ask(place: Place) {
  const run = runIn(place.id);
  return run === null ? <OneAsk {...place} /> : <Run ask={run} />;
}

/** One ask, in whatever state it is for the person in front of it. */
function OneAsk({ id, next, before }: Place) {
  const { data: ask, error, refetch } = useAsk(id);
  useInboxTitle(ask ? headOf(ask) : text.title);
  useEffect(() => void Outcome.load(), []);

  const [state, view] = ((): [string, ComponentChildren] => {
    if (ask && (ask.state !== "open" || ownPress(ask))) return ["over", <Outcome ask={ask} next={next} />];
    if (ask) return [isFree(ask) ? "open" : "waiting", <Open ask={ask} onTimeUp={() => void refetch()} />];
    if (codeOf(error) === "NOT_FOUND") {
      return [
        "gone",
        <Notice title={text.ask.unknown} hint={text.ask.unknownHint}>
          <Link href={besideList("/inbox")} class="button primary">
            {text.ask.toList}
          </Link>
        </Notice>,
      ];
    }
    if (error) return ["trouble", <Trouble title={text.ask.failed} error={error} onTryAgain={() => void refetch()} />];
    return ["loading", <Loading rows={3} />];
  })();
  return (
    <Frame state={state}>
      {before && <Before ask={before} />}
      {ask?.state === "open" && <FreezesOf principal={ask.principal} />}
      {ask && <Header ask={ask} />}
      {view}
    </Frame>
  );
}

/** The sentence of a call; for anything else, the agent's question. */
const headOf = ({ kind, sentence, title }: WholeAsk): string => (kind === "approval" ? sentence : title);

function Open({ ask, onTimeUp }: { ask: WholeAsk; onTimeUp: () => void }) {
  const until = ask.expires_at === null ? Infinity : Date.parse(ask.expires_at);
  return (
    <>
      {until < Infinity && <TimeUp until={until} onTimeUp={onTimeUp} />}
      {isFree(ask) ? <Controls ask={ask} /> : <Waiting ask={ask} />}
      {/* A call that this person decides shows them above its bar. */}
      {!(isFree(ask) && ask.kind === "approval") && <Approvals ask={ask} />}
    </>
  );
}

function TimeUp({ until, onTimeUp }: { until: number; onTimeUp: () => void }) {
  useTimeUp(until, onTimeUp);
  return null;
}

/** It shows after a decision, and is there by then. */
const Outcome = later(async () => (await import("./outcome.tsx")).Outcome, loading);
const Run = later(async () => (await import("./run.tsx")).Run, loading);
/** A review draws diffs, as the tasks of Run do. */
const Review = later(async () => (await import("../console/tasks/inbox-review.tsx")).InboxReview, loading);
/** The ask can be decided without them. */
const Aside = later(async () => (await import("./aside.tsx")).Aside);
const FreezesOf = later(async () => (await import("./freezes.tsx")).FreezesOf);
const Before = later(async () => (await import("./aside.tsx")).Before);
/** Forms are rare, and the most of the code. */
const Value = later(async () => (await import("./arguments/value.tsx")).Value, loading);

function Controls({ ask }: { ask: WholeAsk }) {
  if (ask.task?.about === "review") {
    return <Review ask={ask.id} {...ask.task} />;
  }
  switch (ask.kind) {
    case "approval":
      if (ask.plan === null) return <Approval ask={ask} />;
      return (
        <PlanCard ask={ask}>
          <AgentRequestWords ask={ask} />
          <Facts ask={ask} />
          <Approvals ask={ask} />
        </PlanCard>
      );
    case "reply":
      return <Reply ask={ask} />;
    case "value":
      return <Value ask={ask} />;
  }
}

/** Who asks, until when and what; a call has its function below. */
function Header({ ask }: { ask: WholeAsk }) {
  return (
    <header class={formStyles.header}>
      <div class={formStyles.facts}>
        <span>{ask.task?.about === "review" ? text.task.review : text.kind[ask.kind]}</span>
        <bdi>{ask.agent}</bdi>
        <Asked at={ask.created_at} />
        {ask.state === "open" && <Deadline until={ask.expires_at} />}
        {ask.presses.map(({ name, mine }) => !mine && <span>{text.deciding(name)}</span>)}
        {ask.state === "open" && !ownPress(ask) && <Aside ask={ask} />}
      </div>
      {ask.kind === "approval" ? (
        <>
          <h1 dir="auto">{headOf(ask)}</h1>
          {ask.plan === null && (
            <code class={styles.fn} dir="ltr">
              {ask.fn}
            </code>
          )}
          <RiskStrip ask={ask} />
        </>
      ) : (
        <>
          {(ask.task === null || ask.task.about === "wish") && (
            <p class={formStyles.machine}>{text.ask.words(ask.agent)}</p>
          )}
          <h1 dir="auto">
            <Emphasised words={headOf(ask)} />
          </h1>
          {!isReviewedHere(ask) && beyondTitle(ask) !== "" && <Prose words={beyondTitle(ask)} />}
          <Inquiries ask={ask} />
        </>
      )}
    </header>
  );
}

/** How risky a call looks: in words, with a sign, and never by colour alone. */
function RiskStrip({ ask: { risk, risk_reasons: reasons, state } }: { ask: WholeAsk }) {
  if (state !== "open") return null;
  return (
    <div class={styles.risk} data-risk={risk}>
      {risk !== "normal" && <Icon name={risk === "low" ? "check" : "warning"} />}
      <div>
        <p>{risk === "low" && reasons.length === 0 ? text.risk.reads : text.risk[risk]}</p>
        {reasons.length > 0 && (
          <ul>
            {reasons.map(({ kind, says }) => (
              <li key={kind + says}>
                {text.risk.because[kind]} <bdi>{says}</bdi>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** The work itself says all there is to say of it. */
function isReviewedHere(ask: WholeAsk): boolean {
  return ask.task?.about === "review" && ask.state === "open" && isFree(ask);
}

/** The agent's words without those that already are the title. */
function beyondTitle({ title, words }: WholeAsk): string {
  const all = words.trim();
  return all.startsWith(title) ? all.slice(title.length).trim() : all;
}

/** When one state follows another, the page begins at its beginning again, for the eye and for the keyboard. */
function Frame({ state, children }: { state: string; children: ComponentChildren }) {
  const frame = useRef<HTMLElement>(null);
  const before = useRef(state);
  useLayoutEffect(() => {
    const isNew = before.current !== state && before.current !== "loading";
    before.current = state;
    if (!isNew) return;
    frame.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [state]);
  return (
    <article ref={frame} class={`${questionStyles.frame} ${styles.frame}`} tabIndex={-1} data-focus>
      {children}
    </article>
  );
}
