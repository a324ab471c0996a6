import type { StuckItem, StuckReport } from "@parley/sdk/admin";
import { duration } from "../../format.ts";
import { moment } from "../../moment.ts";
import { announce } from "../../parts/announcer.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { Link } from "../../router.tsx";
import { useTitle } from "../../title.ts";
import { admin } from "../api.ts";
import styles from "../console.module.css";
import overviewStyles from "../overview/overview.module.css";
import { text as overviewText } from "../overview/text.ts";
import { ActionButton, clock, listed, Section, useAction } from "../parts.tsx";
import relayStyles from "../relay/relay.module.css";
import { text as consoleText } from "../text.ts";
import { useStuck } from "./queries.ts";
import { text } from "./text.ts";

type Group = StuckReport["causes"][number];
type Cause = Group["cause"];

/** Those who are asked can be told once more. */
const REMINDED: readonly Cause[] = ["message_failed", "unanswered"];

/** Lists what waits and will not end by itself: why, whose, since when, and the way to mend it beside it. */
export function StuckPage() {
  useTitle(overviewText.stuck.title);
  const { data, error, refetch } = useStuck();
  if (error && !data) return <Trouble title={text.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!data) return <Loading rows={6} />;
  const at = Date.parse(data.at);
  const total = data.causes.reduce((sum, { count }) => sum + count, 0);
  return (
    <section class={styles.console}>
      <h1>{overviewText.stuck.title}</h1>
      <div class={overviewStyles.waiting}>
        <p role="status">
          {text.total(total)} {data.running > 0 && text.running(data.running)}{" "}
          <span class="muted">{overviewText.waiting.at(clock(at))}</span>
        </p>
        {data.more_open && <p class="small muted">{text.moreOpen}</p>}
        {data.causes.map((group) => (
          <StuckBy key={group.cause} group={group} at={at} />
        ))}
      </div>
    </section>
  );
}

function StuckBy({ group: { cause, count, items }, at }: { group: Group; at: number }) {
  return (
    <Section title={text.causes[cause]}>
      <p class="muted">{text.remedies[cause]}</p>
      <ul class={styles.entries}>
        {items.map((item) => (
          <li key={`${item.kind} ${item.id}`}>
            <Facts of={item} at={at} />
            <Levers of={item} cause={cause} />
          </li>
        ))}
      </ul>
      {count > items.length && <p class="small muted">{text.more(count - items.length)}</p>}
    </Section>
  );
}

function Facts({ of, at }: { of: StuckItem; at: number }) {
  const { since, agent, people, channel, error } = of;
  const channelName = channel === null ? null : channelCalled(channel);
  return (
    <div>
      <p dir="auto">{titleOf(of)}</p>
      <p class="small muted">
        {listed([
          ...(agent === null || of.kind === "webhook" ? [] : [text.agent(agent)]),
          ...(people.length === 0 ? [] : [text.asked(listed(people.map(({ name }) => name)))]),
        ])}{" "}
        {since !== null && (
          <time dateTime={since} title={moment(since)}>
            {text.since(duration(Math.max(0, at - Date.parse(since))))}
          </time>
        )}
      </p>
      {(error !== null || channelName !== null) && (
        <p class={`small ${styles.alarm}`}>{channelName === null ? error : text.via(channelName, error)}</p>
      )}
    </div>
  );
}

function titleOf({ kind, id, sentence, agent }: StuckItem): string {
  if (sentence !== null) return sentence;
  if (kind === "channel") return channelCalled(id);
  return kind === "webhook" ? text.webhookOf(agent ?? "") : text.policyFile;
}

const channelCalled = (name: string): string =>
  name in consoleText.channelNames ? consoleText.channel(name as keyof typeof consoleText.channelNames) : name;

/** The ways to mend it: each is a deed, or the page where it is done. */
function Levers({ of, cause }: { of: StuckItem; cause: Cause }) {
  const { kind, id, channel, people } = of;
  return (
    <div class={styles.actions}>
      {kind === "request" && REMINDED.includes(cause) && <Remind id={id} />}
      {cause === "nobody_reached" &&
        people.map((person) => (
          <Lever key={person.id} href={`/console/people/${person.id}`} label={text.person(person.name)} />
        ))}
      {cause === "message_failed" && channel !== null && (
        <Lever href={`/console/channels/${channel}`} label={text.channel(channelCalled(channel))} />
      )}
      {cause === "frozen" && <Lever href="/console/live" label={text.thaw} />}
      <Lever href={placeOf(of)} label={text.open} />
    </div>
  );
}

function Lever({ href, label }: { href: string; label: string }) {
  return (
    <Link href={href} class={relayStyles.target}>
      {label}
    </Link>
  );
}

function placeOf({ kind, id }: StuckItem): string {
  switch (kind) {
    case "request":
      return `/inbox/${id}`;
    case "ask":
      return `/console/asks/${id}`;
    case "question":
      return `/q/${id}`;
    case "job":
      return `/console/jobs/${id}`;
    case "channel":
      return `/console/channels/${id}`;
    case "webhook":
      return `/console/webhooks/${id}`;
    case "policy":
      return "/console/policy";
  }
}

function Remind({ id }: { id: string }) {
  const action = useAction(async () => {
    const { told } = await admin.remind(id);
    announce(text.reminded(told));
  });
  return <ActionButton action={action} label={text.remind} />;
}
