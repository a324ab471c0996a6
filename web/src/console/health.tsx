import { useState } from "preact/hooks";
import { Link } from "../router.tsx";
import { Loading } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { useTitle } from "../title.ts";
import styles from "./console.module.css";
import { type Failure, useFailures } from "./failing.ts";
import { Section, ServerSays } from "./parts.tsx";
import { useHealth } from "./queries.ts";
import { text } from "./text.ts";

/** The server names so many that break a promise. */
const MOST_OFFENDERS = 20;

/** Whether the store keeps its promises, as `parley doctor` finds. */
export function HealthPage() {
  useTitle(text.health.title);
  const [full, setFull] = useState(false);
  const { data, error, isFetching, refetch } = useHealth(full);
  const failures = useFailures();
  if (error && !data) return <Trouble title={text.health.failed} error={error} onTryAgain={() => void refetch()} />;
  const { data: failing, error: unread } = failures;
  if (!data || (!failing && !unread)) return <Loading rows={4} />;
  const title = !data.holds ? text.health.broken : failing?.length === 0 ? text.health.holds : text.health.failing;
  return (
    <section class={styles.console}>
      <h1>{title}</h1>
      {!data.holds && <p class={styles.alarm}>{text.health.brokenHint}</p>}
      <p class="muted" role="status">
        {isFetching ? text.health.checking : data.quick ? text.health.quick : text.health.full}
      </p>
      <div>
        <button type="button" aria-disabled={isFetching} onClick={() => (full ? void refetch() : setFull(true))}>
          {text.health.all}
        </button>
      </div>
      {failing?.length !== 0 && <Failures failing={failing} />}
      <Section title={text.health.checks}>
        <ul class={styles.entries}>
          {data.findings.map(({ check, promise, offenders }) => (
            <li key={`${check} ${promise}`}>
              <div>
                <p>
                  <ServerSays words={promise} />
                </p>
                <p class={`small ${offenders.length === 0 ? "muted" : styles.alarm}`}>
                  {offenders.length === 0 ? text.health.works : text.health.fails} · <bdi>{check}</bdi>
                </p>
                {offenders.map((one) => (
                  <p key={one} class="small">
                    <code>{one}</code>
                  </p>
                ))}
                {offenders.length >= MOST_OFFENDERS && <p class="small">{text.health.mayBeMore(MOST_OFFENDERS)}</p>}
              </div>
            </li>
          ))}
        </ul>
      </Section>
    </section>
  );
}

/** The channels and webhooks whose deliveries fail; undefined where they could not be read. */
function Failures({ failing }: { failing: readonly Failure[] | undefined }) {
  return (
    <Section title={text.health.deliveries}>
      {!failing && <p class={styles.alarm}>{text.health.deliveriesUnknown}</p>}
      <ul class={styles.entries}>
        {failing?.map(({ href, name, says }) => (
          <li key={href}>
            <div>
              <p dir="auto">
                <Link href={href}>{name}</Link>
              </p>
              <p class={`small ${styles.alarm}`}>{says}</p>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}
