import { parseArgs } from "node:util";
import { localTime } from "../../lib/local-time.ts";
import { printable, printableJson } from "../../lib/printable.ts";
import { agentName } from "../../requests/model/view.ts";
import { WEBHOOK_FORMATS } from "../../notices/model/webhook-events.ts";
import { listEndpoints, listWebhookEvents, readEndpoint, sendTestEvent } from "../../notices/webhook-endpoints.ts";
import type { WebhookEndpoint, WebhookEvent } from "../../notices/webhook-endpoints.ts";
import { STORE_OPTIONS, withStore } from "../command-store.ts";
import { type Command, EXIT, onlyArgument, STORE_FLAGS, WrongUsage } from "../command.ts";
import { lookUntil } from "../look-until.ts";
import { table } from "../table.ts";

const DELIVERED_WITHIN_MS = 30_000;
const NEWEST = { limit: 50 };

export const webhookList: Command = {
  usage: "[--agent NAME] [--json]",
  flags: { "--agent NAME": "of this agent alone", "--json": "print JSON", ...STORE_FLAGS },
  example: "parley webhook list",
  async run(argv, io) {
    const { values } = parseArgs({
      args: [...argv],
      options: { ...STORE_OPTIONS, agent: { type: "string" }, json: { type: "boolean" } },
    });
    const whose = values.agent === undefined ? undefined : `agent:${values.agent}`;
    const endpoints = await withStore(values, io, (ctx) => listEndpoints(ctx, whose));
    if (values.json) {
      io.out(printableJson(JSON.stringify(endpoints.map(wireOf))));
      return EXIT.done;
    }
    const rows = endpoints.map((one) => [one.id, agentName(one.agent), one.format, stateOf(one), printable(one.url)]);
    for (const line of table(["ENDPOINT", "AGENT", "FORMAT", "STATE", "URL"], rows)) io.out(line);
    return EXIT.done;
  },
};

export const webhookTest: Command = {
  usage: "ID [--event NAME] [--json]",
  flags: {
    "--event NAME": "which event; left out, the first of the endpoint's format",
    "--json": "print JSON",
    ...STORE_FLAGS,
  },
  example: "parley webhook test whe_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...STORE_OPTIONS, event: { type: "string" }, json: { type: "boolean" } },
    });
    const id = onlyArgument(positionals, "ID");
    const webhookEvent = await withStore(values, io, async (ctx) => {
      const endpoint = await readEndpoint(ctx, id, undefined);
      if (!endpoint.enabled) throw new Error(`${id} is disabled; nothing is told there.`);
      const eventId = await sendTestEvent(ctx, endpoint, eventOf(endpoint, values.event));
      const read = async () => (await listWebhookEvents(ctx, endpoint, NEWEST)).find((one) => one.id === eventId);
      const isTried = (one: WebhookEvent | undefined) => one?.state !== "pending" || one.error !== null;
      return lookUntil(read, isTried, { withinMs: DELIVERED_WITHIN_MS, signal: io.interrupted });
    });
    if (io.interrupted.aborted) return EXIT.interrupted;
    if (!webhookEvent) throw new Error("The endpoint was removed meanwhile.");
    const { event, state, attempt: attempts, status, error } = webhookEvent;
    if (values.json)
      io.out(printableJson(JSON.stringify({ id: webhookEvent.id, event, state, attempts, status, error })));
    else if (state === "delivered") io.out(`Told ${event}, and answered with status ${status ?? "-"}.`);
    else if (error !== null) io.out(`Not told ${event}: ${printable(error)}. It will be tried again.`);
    else io.out(`${event} waits to be told; is the server running?`);
    return state === "delivered" ? EXIT.done : error === null ? EXIT.unanswered : EXIT.refused;
  },
};

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
    failing_since: failingSince === null ? null : timeText(failingSince),
    created_at: timeText(createdAt),
  };
}

const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
