import type { ComponentChildren } from "preact";
import { moment } from "../moment.ts";
import { useServerNow } from "../parts/time-left.tsx";
import styles from "./parts.module.css";
import { Prose } from "../parts/prose.tsx";
import { text } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

/** A deadline, counted down. */
export function Deadline({ until }: { until: string | null }) {
  return until === null ? <span>{text.noDeadline}</span> : <Left until={until} />;
}

function Left({ until }: { until: string }) {
  const at = Date.parse(until);
  return (
    <time dateTime={until} class="time-left">
      {text.left(at - useServerNow(at))}
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
  const others = ask.may_answer.map(({ name, channel, me, from }) => {
    const who = text.mayAnswer(name, channel, me);
    return from === null ? who : `${who}, ${text.from(moment(from))}`;
  });
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
        <Fact term={text.ask.deadline}>{ask.expires_at === null ? text.noDeadline : moment(ask.expires_at)}</Fact>
        {ask.state === "open" && <Fact term={text.ask.silence}>{text.ask.silences[ask.silence]}</Fact>}
        <Fact term={text.ask.others}>
          {needs !== null && <p>{needs}</p>}
          <Lines lines={[...new Set(others)]} />
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
    </section>
  );
}

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
