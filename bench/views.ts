/**
 * Measures how long each view of the largest permitted request holds the event loop of a real server, and what others
 * wait for `/healthz` meanwhile, in texts that are costly to draw in different ways. Prints a table.
 *
 *     npm run bench:views                    every text
 *     npm run bench:views -- blanks amounts  those whose name holds one of the words
 */
import { setTimeout as sleep } from "node:timers/promises";
import { format } from "prettier";
import { jsonOf } from "./door-bodies.ts";
import { openDoorScene, type DoorScene } from "./door-scene.ts";
import { KIB } from "./door.ts";

/** The largest call, without what stands around its arguments, and the longest words of an agent. */
const MOST_BYTES = 940 * KIB;
const MOST_WORDS = 40_000;
const MOST_MEMBERS = 9900;
/** A client may ask a hundred times a second. */
const PROBE_EVERY_MS = 15;
const A2H = "/a2h/v1alpha1";

/** Each fills about so many bytes of JSON. */
const TEXTS: Readonly<Record<string, (bytes: number) => string>> = {
  "plain words": (bytes) => "a few plain words. ".repeat(bytes / 19),
  "blanks in one line": (bytes) => `${" ".repeat(bytes - 20)}x\n`,
  "blanks in lines": (bytes) => `${" ".repeat(bytes / 5000)}x\n`.repeat(4900),
  "short lines": (bytes) => "a\n".repeat(bytes / 3),
  "one long word": (bytes) => "a".repeat(bytes - 20),
  tabs: (bytes) => "\t\n".repeat(bytes / 4),
  "a diff": (bytes) => `--- a/x\n+++ b/x\n@@ @@\n${`+${"y".repeat(bytes / 5000)}\n`.repeat(4900)}`,
  fences: (bytes) => "```\nx\n".repeat(bytes / 8),
  "combining marks": (bytes) => "e\u0301".repeat(bytes / 3),
  addresses: (bytes) => "https://example.com/a?b ".repeat(bytes / 24),
  emoji: (bytes) => "\u{1f468}\u200d\u{1f469} ".repeat(bytes / 12),
  "what cannot be seen": (bytes) => "\u200b\n".repeat(bytes / 5),
  HTML: (bytes) => "<b>&'</b>".repeat(bytes / 9),
};
const CALLS: Readonly<Record<string, (bytes: number) => object>> = {
  ...Object.fromEntries(
    Object.entries(TEXTS).map(([name, fill]) => [name, (bytes: number) => ({ text: fill(bytes) })]),
  ),
  amounts: () => members((i) => [`amount_cents_${i}`, i]),
  dates: () => members((i) => [`day_${i}`, "2026-11-28T10:00:00Z"]),
  "many members": () => members((i) => [`n${i}`.padEnd(42, "x"), "v".repeat(42)]),
  "a list": () => ({ list: Array.from({ length: MOST_MEMBERS }, () => "x".repeat(90)) }),
  "deep values": () => ({ list: Array.from({ length: 190 }, () => nested(50)) }),
};

function members(member: (i: number) => [string, unknown]): object {
  return { currency: "EUR", ...Object.fromEntries(Array.from({ length: MOST_MEMBERS }, (_, i) => member(i))) };
}

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { a: nested(depth - 1) };
}

/** How long each `/healthz` beside the views took, in milliseconds. */
const waits: number[] = [];

interface Measured {
  /** The longest turn of the event loop, and without the collection of garbage. */
  turn: number;
  own: number;
  /** The slowest `/healthz`. */
  waited: number;
}

/** Runs a view; returns what it held up, in milliseconds. */
async function measured(scene: DoorScene, view: () => Promise<unknown>): Promise<Measured> {
  await scene.longestTurn();
  let [isOver, waited] = [false, 0];
  const others = (async () => {
    while (!isOver) {
      const start = performance.now();
      await fetch(`${scene.url}/healthz`).then((reply) => reply.text());
      const took = performance.now() - start;
      waits.push(took);
      waited = Math.max(waited, took);
      await sleep(PROBE_EVERY_MS);
    }
  })();
  await view();
  isOver = true;
  await others;
  return { ...(await scene.longestTurns()), waited };
}

const words = process.argv.slice(2);
const lines = [
  "| view | text | longest turn, ms | without GC, ms | slowest /healthz, ms |",
  "| --- | --- | --: | --: | --: |",
];
await using scene = await openDoorScene();
const get = async (path: string, headers: Record<string, string> = scene.keys.person): Promise<string> => {
  const reply = await fetch(`${scene.url}${path}`, { headers });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return reply.text();
};

async function ask(name: string, kwargs: object, channel: object): Promise<string> {
  const msg = (TEXTS[name]?.(MOST_WORDS) ?? "why").slice(0, MOST_WORDS);
  const body = jsonOf({ run_id: "r", call_id: `v-${Math.random()}`, spec: { fn: "report", kwargs, msg, channel } });
  const path = `${A2H}/function_calls`;
  const { status, text } = await scene.send({ path, headers: scene.keys.agent, body });
  if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
  return (JSON.parse(text) as { status: { ask_id: string } }).status.ask_id;
}

async function measureAll(name: string, kwargs: object): Promise<void> {
  const id = await ask(name, kwargs, { human: { id: scene.person } });
  const views: Record<string, () => Promise<unknown>> = {
    "(nothing)": () => get("/livez", {}).catch(() => undefined),
    "inbox, list": () => get("/people/me/asks"),
    "inbox, whole": () => get(`/people/me/asks/${id}`),
    "(a new call) and Slack": async () => {
      await ask(name, kwargs, { slack: { channel_or_user_id: "C024BE91L" } });
      link = await scene.link();
    },
    "page of a link": () => get(link, {}),
    "(a decision)": async () => {
      const body = jsonOf({ approved: false });
      const path = `/people/me/asks/${id}/decision`;
      const { status, text } = await scene.send({ path, headers: scene.keys.person, body });
      if (status !== 200) throw new Error(text);
    },
    "page of a receipt": () => get(`/receipts/${id}`, { ...scene.keys.admin, accept: "text/html" }),
  };
  let link = "";
  for (const [view, look] of Object.entries(views)) {
    const { turn, own, waited } = await measured(scene, look);
    lines.push(`| ${view} | ${name} | ${turn.toFixed(0)} | ${own.toFixed(0)} | ${waited.toFixed(0)} |`);
    console.log(lines.at(-1));
  }
}

for (const [name, fill] of Object.entries(CALLS)) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  await measureAll(name, fill(MOST_BYTES));
}
waits.sort((one, other) => one - other);
const quantile = (of: number): string => (waits[Math.ceil(waits.length * of) - 1] ?? 0).toFixed(1);
console.log(
  `/healthz, ${waits.length} times: p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms, p99.9 ${quantile(0.999)} ms`,
);
console.log(await format(lines.join("\n"), { parser: "markdown" }));
