import { localTime } from "../../lib/local-time.ts";
import { printable } from "../../lib/printable.ts";
import { agentName } from "../../requests/model/view.ts";
import { WEBHOOK_FORMATS } from "../../notices/model/webhook-events.ts";
import { listEndpoints, listWebhookEvents, readEndpoint, sendTestEvent } from "../../notices/webhook-endpoints.ts";
import type { WebhookEndpoint, WebhookEvent } from "../../notices/webhook-endpoints.ts";
import { WrongUsage } from "../arguments.ts";
import { withStore } from "../command-store.ts";
import { command, EXIT, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { lookUntil } from "../look-until.ts";
import { print, table, utcText } from "../print.ts";

const DELIVERED_WITHIN_MS = 30_000;
const NEWEST = { limit: 50 };

export const webhookList = command({
  takes: { "--agent NAME": "of this agent alone", ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley webhook list",
  async run({ agent, json, ...place }, io) {
    const whose = agent === undefined ? undefined : `agent:${agent}`;
    const endpoints = await withStore(place, io, (ctx) => listEndpoints(ctx, whose));
    const rows = endpoints.map((one) => [one.id, agentName(one.agent), one.format, stateOf(one), printable(one.url)]);
    return print(json, endpoints.map(wireOf), table(["ENDPOINT", "AGENT", "FORMAT", "STATE", "URL"], rows), io);
  },
});

export const webhookTest = command({
  takes: {
    ID: "",
    "--event NAME": "which event; left out, the first of the endpoint's format",
    ...JSON_FLAG,
    ...STORE_FLAGS,
  },
  example: "parley webhook test whe_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  async run({ id, event: wanted, json, ...place }, io) {
    const webhookEvent = await withStore(place, io, async (ctx) => {
      const endpoint = await readEndpoint(ctx, id, undefined);
      if (!endpoint.enabled) throw new Error(`${id} is disabled; nothing is told there.`);
      const eventId = await sendTestEvent(ctx, endpoint, eventOf(endpoint, wanted));
      const read = async () => (await listWebhookEvents(ctx, endpoint, NEWEST)).find((one) => one.id === eventId);
      const isTried = (one: WebhookEvent | undefined) => one?.state !== "pending" || one.error !== null;
      return lookUntil(read, isTried, { withinMs: DELIVERED_WITHIN_MS, signal: io.interrupted });
    });
    if (io.interrupted.aborted) return EXIT.interrupted;
    if (!webhookEvent) throw new Error("The endpoint was removed meanwhile.");
    const { event, state, attempt: attempts, status, error } = webhookEvent;
    const outcome =
      state === "delivered"
        ? `Told ${event}, and answered with status ${status ?? "-"}.`
        : error !== null
          ? `Not told ${event}: ${printable(error)}. It will be tried again.`
          : `${event} waits to be told; is the server running?`;
    print(json, { id: webhookEvent.id, event, state, attempts, status, error }, [outcome], io);
    return state === "delivered" ? EXIT.done : error === null ? EXIT.unanswered : EXIT.refused;
  },
});

function eventOf({ format }: WebhookEndpoint, wanted: string | undefined): string {
  const known: readonly string[] = WEBHOOK_FORMATS[format];
  const event = wanted ?? known[0];
  if (event === undefined || !known.includes(event)) throw new WrongUsage(`--event must be one of ${known.join(", ")}`);
  return event;
}

function stateOf({ enabled, failingSince }: WebhookEndpoint): string {
  if (!enabled) return "disabled";
  return failingSince === null ? "enabled" : `failing since ${localTime(failingSince)}`;
}

function wireOf({ id, agent, url, format, events, description, enabled, failingSince, createdAt }: WebhookEndpoint) {
  return {
    id,
    agent: agentName(agent),
    url,
    format,
    events,
    description,
    enabled,
    failing_since: utcText(failingSince),
    created_at: utcText(createdAt),
  };
}
