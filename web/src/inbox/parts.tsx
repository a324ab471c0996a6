import type { ComponentChildren } from "preact";
import { serverNow } from "../api.ts";
import { besideList } from "../filter.ts";
import { ago, day } from "../format.ts";
import { locale } from "../language.ts";
import { moment } from "../moment.ts";
import { useServerNow } from "../parts/time-left.tsx";
import styles from "./parts.module.css";
import { Prose } from "../parts/prose.tsx";
import { Link } from "../router.tsx";
import { runPath } from "./run-place.ts";
import { text } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

/** Returns how an ask came to the person: from somebody's hands, or because that person is away. */
export function handedBy({ name, note, away_until: until }: NonNullable<WholeAsk["handed_by"]>): string {
  return until === null ? text.handedBy(name, note) : text.awayUntil(name, day(until));
}

const SOON_MS = 3_600_000;
const LAST_MS = 300_000;

/** A deadline, counted down: amber within its last hour, red within the last five minutes. */
export function Deadline({ until }: { until: string | null }) {
  return until === null ? <span>{text.noDeadline}</span> : <Left until={until} />;
}

function Left({ until }: { until: string }) {
  const at = Date.parse(until);
  const leftMs = at - useServerNow(at);
  return (
    <time dateTime={until} class={`time-left ${leftMs < LAST_MS ? styles.last : leftMs < SOON_MS ? styles.soon : ""}`}>
      {text.left(leftMs)}
    </time>
  );
}

/** When it was asked, to the minute, so that it seldom changes; exactly where somebody points at it. */
export function Asked({ at }: { at: string }) {
  const ms = serverNow() - Date.parse(at);
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(ms < 60_000 ? 0 : ms)}
    </time>
  );
}

/** Texts longer than this, in characters, scroll in a box of their own. */
const LONG = 1000;

/** The agent's own words, below a line that says so. */
export function Words({ ask }: { ask: WholeAsk }) {
  if (ask.words.trim() === "") return null;
  return (
    <figure class={styles.words}>
      <figcaption>{text.ask.words(ask.agent)}</figcaption>
      <blockquote tabIndex={ask.words.length > LONG ? 0 : undefined} class={ask.words.length > LONG ? styles.long : ""}>
        <Prose words={ask.words} />
      </blockquote>
    </figure>
  );
}

/** Who asks, in which run, until when, what silence means, and who else may answer. */
export function Facts({ ask }: { ask: WholeAsk }) {
  const needs = text.needs(ask.needs);
  const sent = ask.deliveries.map(({ channel, name, state }) => text.delivery(channel, name, state));
  return (
    <section class={styles.facts} aria-label={text.ask.facts}>
      <dl>
        <Fact term={text.ask.agent}>
          <bdi>{ask.agent}</bdi>
        </Fact>
        {ask.run !== null && (
          <Fact term={text.ask.run}>
            <bdi>{ask.run}</bdi>
          </Fact>
        )}
        <Fact term={text.ask.asked}>
          <time dateTime={ask.created_at}>{moment(ask.created_at)}</time>
        </Fact>
        <Fact term={text.ask.deadline}>{ask.expires_at === null ? text.noDeadline : moment(ask.expires_at)}</Fact>
        {ask.state === "open" && <Fact term={text.ask.silence}>{text.ask.silences[ask.silence]}</Fact>}
        <Fact term={text.ask.others}>
          {needs !== null && <p>{needs}</p>}
          <MayAnswer all={ask.may_answer} />
        </Fact>
        {sent.length > 0 && (
          <Fact term={text.ask.sent}>
            <Lines lines={sent} />
          </Fact>
        )}
        {ask.refused && (
          <Fact term={text.ask.refused}>
            {text.refusedBy(ask.refused.by, ask.refused.via, text.refusals[ask.refused.reason] ?? ask.refused.reason)}
          </Fact>
        )}
        {ask.digest !== null && (
          <Fact term={text.ask.digest}>
            <code title={ask.digest}>{ask.digest.replace("sha256:", "").slice(0, 8)}</code>
          </Fact>
        )}
      </dl>
      {ask.has_run && (
        <p>
          <Link href={besideList(runPath(ask.id))}>{text.ask.wholeRun}</Link>
        </p>
      )}
    </section>
  );
}

/** Of so many each is named at once; of more the first of them, and the rest at a press. */
const MOST_NAMED = 4;
const lists = new Intl.ListFormat(locale);

/** Everybody who may answer, the reader first: those of one group, and those who may from one time on, stand together. */
function MayAnswer({ all }: { all: WholeAsk["may_answer"] }) {
  const keyOf = ({ group, from }: (typeof all)[number]): string => [from, group].join(" ");
  return (
    <>
      {[...new Set(all.map(keyOf))].map((key) => {
        const together = all.filter((one) => keyOf(one) === key);
        const { group = null, from = null } = together[0] ?? {};
        const me = together.filter((one) => one.me).map(({ channel }) => text.you(channel));
        const others = together.filter((one) => one.many || !one.me).map((one) => text.mayAnswer(one, me.length === 0));
        const who = [...new Set([...me, ...others])];
        const rest = who.length > MOST_NAMED ? who.splice(MOST_NAMED - 2) : [];
        const line = (
          <>
            {group !== null && text.ofGroup(group)}
            {lists.formatToParts([...who, ...(rest.length > 0 ? [text.moreOf(rest.length)] : [])]).map(inList)}
            {from !== null && `, ${text.from(moment(from))}`}
          </>
        );
        if (rest.length === 0) return <p key={key}>{line}</p>;
        return (
          <details key={key}>
            <summary>{line}</summary>
            {lists.formatToParts(rest).map(inList)}
          </details>
        );
      })}
    </>
  );
}

const inList = ({ type, value }: { type: string; value: string }, at: number) =>
  type === "element" ? <bdi key={at}>{value}</bdi> : value;

function Fact({ term, children }: { term: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  return lines.length === 1 ? (
    <>{lines[0]}</>
  ) : (
    <ul>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
