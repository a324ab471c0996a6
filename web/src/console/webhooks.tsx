import type { Webhook, WebhookDelivery } from "@parley/sdk/admin";
import { announce } from "../parts/announcer.tsx";
import { Loading } from "../parts/notice.tsx";
import { More } from "../parts/more.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { admin } from "./api.ts";
import styles from "./console.module.css";
import { failureOf } from "./failing.ts";
import type { PageProps } from "./page-props.ts";
import {
  ActionButton,
  Detail,
  Empty,
  Facts,
  Gone,
  List,
  listed,
  Moment,
  Rows,
  Section,
  ServerSays,
  Sides,
  useAction,
  useEvery,
} from "./parts.tsx";
import { refresh, useDeliveries, useEndpoints } from "./queries.ts";
import { text } from "./text.ts";

const BASE = "/console/webhooks";
const LOOK_EVERY_MS = 2000;

/** The endpoints that are notified of how requests end, and the events sent there. */
export function WebhooksPage({ item }: PageProps) {
  const { data, error, refetch } = useEndpoints();
  if (error && !data) return <Trouble title={text.webhooks.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  const endpoint = data.find(({ id }) => id === item);
  const rows = data.map((one) => ({
    id: one.id,
    title: one.agent,
    facts: [<bdi>{new URL(one.url).host}</bdi>, stateOf(one)],
  }));
  const list = (
    <List title={text.webhooks.title} isAlone={item === undefined}>
      {rows.length === 0 ? (
        <Empty title={text.webhooks.empty} hint={text.webhooks.emptyHint} />
      ) : (
        <Rows base={BASE} rows={rows} current={item} />
      )}
    </List>
  );
  const one = endpoint ? <OneEndpoint key={endpoint.id} endpoint={endpoint} /> : <Gone to={BASE} />;
  return <Sides list={list} detail={item === undefined ? undefined : one} />;
}

function stateOf(endpoint: Webhook): string {
  if (!endpoint.enabled) return text.webhooks.disabled;
  return failureOf(endpoint) === null ? text.webhooks.enabled : text.webhooks.fails;
}

function OneEndpoint({ endpoint }: { endpoint: Webhook }) {
  const { id, agent, url, format, events, description, enabled, created_at } = endpoint;
  const failure = failureOf(endpoint);
  const turn = useAction(async () => {
    await admin.changeWebhook(id, { enabled: !enabled });
    await refresh("webhooks");
  });
  const test = useAction(async () => {
    await admin.testWebhook(id);
    announce(text.webhooks.testing);
    await refresh("webhooks");
  });
  return (
    <Detail title={agent} isGiven>
      <p class={enabled && failure === null ? undefined : styles.alarm}>{stateOf(endpoint)}</p>
      {failure !== null && <p>{failure}</p>}
      {!enabled && <p>{text.webhooks.disabledHint}</p>}
      <Facts
        facts={[
          ["URL", <code>{url}</code>],
          [text.webhooks.format, <bdi>{format}</bdi>],
          [text.webhooks.events, events.length === 0 ? text.webhooks.allEvents : listed(events.map(text.deed))],
          ...(description === "" ? [] : [[text.webhooks.about, <bdi>{description}</bdi>] as const]),
          [text.webhooks.made, <Moment time={created_at} />],
        ]}
      />
      <div class={styles.actions}>
        {enabled && <ActionButton action={test} label={text.webhooks.test} kind="primary" />}
        <ActionButton action={turn} label={enabled ? text.webhooks.disable : text.webhooks.enable} />
      </div>
      <Deliveries endpoint={id} />
    </Detail>
  );
}

function Deliveries({ endpoint }: { endpoint: string }) {
  const { deliveries, error, refetch, hasNextPage, fetchNextPage } = useDeliveries(endpoint);
  // While a delivery waits, the list is read again and again.
  const waits = deliveries?.some(({ state }) => state === "pending") ?? false;
  useEvery(LOOK_EVERY_MS, waits, () => void refetch());
  const retry = useAction(async (delivery: string) => {
    await admin.retryDelivery(endpoint, delivery);
    announce(text.webhooks.retrying);
    await refresh("webhooks");
  });
  if (error && !deliveries) {
    return <Trouble level={2} title={text.webhooks.deliveriesFailed} error={error} onTryAgain={() => void refetch()} />;
  }
  return (
    <Section title={text.webhooks.deliveries}>
      {deliveries?.length === 0 && <p class="muted">{text.webhooks.noDeliveries}</p>}
      <ul class={styles.entries}>
        {deliveries?.map((one) => (
          <li key={one.id}>
            <DeliveryRow of={one} />
            {one.state !== "pending" && (
              <button type="button" class="quiet" onClick={() => void retry.run(one.id)}>
                {text.webhooks.retry}
                <span class="unseen"> ({text.deed(one.event)})</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      <More
        label={text.older}
        rows={deliveries?.length ?? 0}
        isMore={hasNextPage}
        readOn={() => fetchNextPage({ throwOnError: true })}
      />
    </Section>
  );
}

function DeliveryRow({ of: one }: { of: WebhookDelivery }) {
  return (
    <div>
      <p>{text.deed(one.event)}</p>
      <p class={`small muted ${styles.line}`}>
        <span data-state={one.state}>{text.webhooks.state[one.state]}</span>
        <span>{text.webhooks.attempts(one.attempts)}</span>
        {one.error !== undefined && (
          <span>
            <ServerSays words={one.error} />
          </span>
        )}
        {one.error === undefined && one.status !== undefined && <span>{text.webhooks.status(one.status)}</span>}
        <Moment time={one.created_at} />
        <code>{one.event}</code>
        {one.next_attempt_at !== undefined && one.attempts > 0 && (
          <span>
            {text.webhooks.next} <Moment time={one.next_attempt_at} />
          </span>
        )}
      </p>
    </div>
  );
}
