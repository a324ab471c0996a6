import { serverNow } from "../../api.ts";
import { ago } from "../../format.ts";
import { FreezePrincipal, FreezesOf } from "../../inbox/freezes.tsx";
import { moment } from "../../moment.ts";
import { Loading } from "../../parts/notice.tsx";
import { More } from "../../parts/more.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { Link } from "../../router.tsx";
import styles from "../console.module.css";
import { Section } from "../parts.tsx";
import relayStyles from "../relay/relay.module.css";
import { type AskingAgent, useAskingAgents } from "./queries.ts";
import { text } from "./text.ts";

/** Every program that ever asked or holds a key for it: what waits, how its requests ended, and the way to freeze it. */
export function AskingAgents() {
  const { agents, error, refetch, hasNextPage, fetchNextPage } = useAskingAgents();
  if (error && !agents)
    return <Trouble level={2} title={text.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!agents) return <Loading rows={6} />;
  return (
    <Section title={text.title}>
      {agents.length === 0 && <p class="muted">{text.none}</p>}
      <ul class={styles.entries}>
        {agents.map((agent) => (
          <li key={agent.principal}>
            <Facts of={agent} />
            <div class={styles.actions}>
              <Lever of={agent} />
            </div>
          </li>
        ))}
      </ul>
      <More
        label={text.more}
        rows={agents.length}
        isMore={hasNextPage}
        readOn={() => fetchNextPage({ throwOnError: true })}
      />
    </Section>
  );
}

function Facts({ of }: { of: AskingAgent }) {
  const { name, asked_at: askedAt, waiting, questions, newest, keys, grants } = of;
  const decided = newest.approved + newest.rejected;
  const facts = [
    ...(of.frozen ? [text.frozen] : []),
    ...(questions > 0 ? [text.questions(questions)] : []),
    ...(decided > 0 ? [text.approved(newest.approved / decided, decided)] : []),
    ...(newest.median_wait_ms === null ? [] : [text.wait(newest.median_wait_ms)]),
    ...(keys.length > 0 ? [text.keys(keys.length)] : []),
    ...(grants > 0 ? [text.grants(grants)] : []),
  ];
  return (
    <div>
      <p>
        <bdi>{name}</bdi>
      </p>
      <p class={`small muted ${styles.line}`}>
        {askedAt === null ? (
          <span>{text.never}</span>
        ) : (
          <time dateTime={askedAt} title={moment(askedAt)}>
            {text.lastAsked(ago(Math.max(0, serverNow() - Date.parse(askedAt))))}
          </time>
        )}
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
      {waiting > 0 && (
        <Link href={`/inbox?show=${encodeURIComponent(`agent:${name}`)}`} class={relayStyles.target}>
          {text.waiting(waiting)}
        </Link>
      )}
    </div>
  );
}

/** A frozen agent can be thawed, with who froze it and since when; any other one can be frozen. */
function Lever({ of: { principal, name, frozen } }: { of: AskingAgent }) {
  return frozen ? <FreezesOf principal={principal} /> : <FreezePrincipal principal={principal} name={name} />;
}
