import { until } from "../support/contract.ts";
import { gatedServer, type GatedServer, type Sent } from "../support/gateway.ts";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import type { ConsentStory } from "./consent-story.ts";
import type { Somebody } from "./consent-world.ts";

type Json = Record<string, unknown>;

const MODERN = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
const FORM = { how: { method: "elicitation/create", params: { message: "How?" } } };
const YES = { how: { action: "accept", content: {} } };
const OF_MESSAGE = ["jsonrpc", "id", "method", "params", "result", "error"];
const OF_CALL = ["name", "arguments", "_meta", "requestState", "inputResponses"];
const DECIDED_WITHIN_MS = 20_000;

/** A call that was sent through the gate, and what people made of it. */
interface GatedCall {
  path: string;
  /** The arguments that a person approved, in canonical JSON; null where nobody did. */
  approved: string | null;
  request: Json;
}

/** A gate in front of a server, and what its calls were approved as. */
export interface GateScene {
  server: GatedServer;
  calls: GatedCall[];
  /** The lines to the server that were looked at. */
  seen: number;
  /** How often each of these tools with arguments may still run, and the states that its next rounds may bring. */
  runs: Map<string, number>;
  states: Map<string, number>;
}

/** Asks for one form, and is then done. */
function inTwoRounds({ id, params }: Sent): string {
  const isFirst = params["requestState"] === undefined;
  const result = isFirst
    ? { resultType: "input_required", inputRequests: FORM, requestState: stateOf(params.arguments) }
    : { content: [{ type: "text", text: "done" }] };
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

const stateOf = (args: unknown): string => `for ${canonicalExact(args ?? {})}`;

/** The asker is the client of a gate, and sends it whatever might run without a decision, or otherwise than decided. */
export async function passGate(story: ConsentStory): Promise<void> {
  const scene = (story.gate ??= {
    server: await gatedServer(story.on.world, inTwoRounds),
    calls: [],
    seen: 0,
    runs: new Map(),
    states: new Map(),
  });
  const operator = await story.operator();
  const attack = story.dice.pick([call, call, call, nextRound, nextRound, sendBytes, sendBytes, sendAgain]);
  await attack(story, scene, operator);
  look(story, scene);
}

type Attack = (story: ConsentStory, scene: GateScene, operator: Somebody) => Promise<void>;

/** Makes a call, which a person approves, edits, rejects or leaves. */
const call: Attack = async (story, scene, operator) => {
  const { dice } = story;
  const path = story.fresh("path");
  const args: Json = { path, amount: 100 };
  const meta = dice.chance(0.3) ? { ...MODERN, [story.fresh("own")]: "x" } : MODERN;
  const request = { name: dice.pick(["read_file", "write_file"]), arguments: args, _meta: meta };
  const gated: GatedCall = { path, approved: null, request };
  scene.calls.push(gated);
  const id = story.fresh("id");
  scene.server.say({ id, method: "tools/call", params: request });
  const requestId = await requestAbout(story, operator, path);
  if (requestId === null) return story.broke(`nobody is asked about a call of a gate: ${path}`);
  look(story, scene);
  const choice = dice.pick(["approve", "approve", "edit", "reject"]);
  const kwargs = choice === "edit" ? { path, amount: 10 } : undefined;
  const { world } = story.on;
  const headers = operator.answers ?? {};
  const whole = await world.call("GET", `/people/me/asks/${requestId}`, { headers });
  if (choice !== "reject") allow(scene, gated, kwargs ?? args);
  const body = { approved: choice !== "reject", digest: whole.body.digest as string, ...(kwargs && { kwargs }) };
  const reply = await world.call("POST", `/people/me/asks/${requestId}/decision`, { headers, body });
  story.note(`a call of a gate about ${path}: ${choice} -> ${reply.status}`);
  await scene.server.answerTo(id);
};

function allow({ runs }: GateScene, gated: GatedCall, args: Json): void {
  gated.approved = canonicalExact(args);
  const key = runKey(gated.request["name"], args);
  runs.set(key, (runs.get(key) ?? 0) + 1);
}

const runKey = (tool: unknown, args: unknown): string => `${String(tool)} ${canonicalExact(args ?? {})}`;

/** Continues a call: as its server asked, again, with other arguments, or with a state of its own. */
const nextRound: Attack = async (story, { calls, server }) => {
  const begun = calls.slice(-4);
  if (begun.length === 0) return;
  const { request, approved } = story.dice.pick(begun);
  const args = request["arguments"] as Json;
  const state = approved === null ? stateOf(args) : `for ${approved}`;
  const changes = story.dice.pick<Json>([
    {},
    {},
    { arguments: { ...args, amount: 1_000_000 } },
    { requestState: "for {}" },
    { name: "drop_table" },
    { inputResponses: { ...YES, other: {} } },
  ]);
  const round = { ...request, requestState: state, inputResponses: YES, ...changes };
  const answers = [await server.call(round), await server.call(round)];
  const says = approved ?? "what nobody approved";
  story.note(`continues ${says} twice with ${JSON.stringify(changes)}: ${JSON.stringify(answers)}`);
};

/** Sends a line in which another reader finds a call that people were not asked about. */
const sendBytes: Attack = async (story, { server }) => {
  const args = (path: string) => `{"path":"${path}"}`;
  const made = (path: string, id: string) =>
    `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"write_file","arguments":${args(path)}}}`;
  const [evil, id] = [story.fresh("evil"), story.fresh("id")];
  const line = story.dice.pick([
    `{"jsonrpc":"2.0","id":"${id}","method":"ping","x":\r${made(evil, story.fresh("id"))}\r}`,
    `{"jsonrpc":"2.0","id":"${id}","method":"ping","params":{"x":\r${made(evil, story.fresh("id"))}\r}}`,
    `{"jsonrpc":"2.0","id":"${id}","method":"ping","x":"\u2028${made(evil, "x").replaceAll('"', "'")}"}`,
    `{"jsonrpc":"2.0","id":"${id}","method":"ping","Method":"tools/call","params":{"name":"write_file","arguments":${args(evil)}}}`,
    `{"jsonrpc":"2.0","id":"${id}","method":"Tools/Call","params":{"name":"write_file","arguments":${args(evil)}}}`,
    `{"jsonrpc":"2.0","id":"${id}","method":"ping","method":"tools/call","params":{"name":"write_file","arguments":${args(evil)}}}`,
    `[${made(evil, id)}]`,
    `{"jsonrpc":"2.0","id":"${id}","method":"ping","calls":[${made(evil, "x")}]}`,
    `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"write_file","arguments":${args(evil)}}}`,
    `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"write_file","arguments":${args(evil)},"task":{}}}`,
  ]);
  server.say(line);
  await Promise.resolve();
  story.note(`sends a gate ${JSON.stringify(line)}`);
};

/** Makes two calls under one id, and gives the answer of the one as that of the other. */
const sendAgain: Attack = async (story, { calls, server }) => {
  const id = story.fresh("id");
  const request = calls.at(-1)?.request ?? { name: "write_file", arguments: { path: story.fresh("twice") } };
  server.say({ id, method: "ping" });
  server.say({ id, method: "tools/call", params: request });
  const isAnswered = () => server.toClient.some((line) => line.includes(id));
  await until(isAnswered, id, DECIDED_WITHIN_MS).catch(() =>
    story.broke(`a gate takes a call under an id in use: ${id}`),
  );
  story.note(`makes a call under an id that is in use: ${id}`);
};

async function requestAbout(story: ConsentStory, who: Somebody, path: string): Promise<string | null> {
  const look = async () => {
    const headers = who.answers ?? {};
    const { body } = await story.on.world.call("GET", "/people/me/asks", { headers });
    for (const { id } of (body.asks as { id: string }[]).slice(0, 5)) {
      const { text } = await story.on.world.call("GET", `/people/me/asks/${id}`, { headers });
      if (text.includes(path)) return id;
    }
    return undefined;
  };
  return until(look, path, DECIDED_WITHIN_MS).catch(() => null);
}

/** Each call that the server got since the last look was approved, exactly so and once, for every reader. */
function look(story: ConsentStory, scene: GateScene): void {
  const { server } = scene;
  for (const line of server.toServer.slice(scene.seen)) {
    if (/[^ -~]/.test(line)) story.broke(`a gate's server gets a byte that is no plain character: ${line}`);
    for (const read of readings(line)) judge(story, scene, read);
  }
  scene.seen = server.toServer.length;
}

/** Returns the messages that readers find in a line: whatever they take for its end. */
function readings(line: string): Json[] {
  return line.split(/[\r\n\u0085\u2028\u2029]+/).flatMap((piece) => {
    try {
      const json: unknown = JSON.parse(piece);
      return (Array.isArray(json) ? json : [json]) as Json[];
    } catch {
      return [];
    }
  });
}

function judge(story: ConsentStory, { runs, states }: GateScene, message: Json): void {
  const others = (members: Json, known: readonly string[]) =>
    Object.keys(members).filter((one) => !known.includes(one));
  const unknown = others(message, OF_MESSAGE);
  if (unknown.length > 0) story.broke(`a gate's server gets members that nobody is shown: ${unknown.join()}`);
  if (message["method"] !== "tools/call") return;
  const params = message["params"] as Json;
  const more = [...others(params, OF_CALL), ...others((params["_meta"] ?? {}) as Json, Object.keys(MODERN))];
  if (more.length > 0) story.broke(`a gate's server gets members that nobody is shown: ${more.join()}`);
  const run = runKey(params["name"], params["arguments"]);
  const state = params["requestState"];
  const left = state === undefined ? runs : states;
  const key = state === undefined ? run : `${String(state)} ${run}`;
  const times = left.get(key) ?? 0;
  const says = `${state === undefined ? "a call" : "a round"} that was not approved, or once more than it was`;
  if (times === 0) story.broke(`a gate's server runs ${says}: ${JSON.stringify(message)}`);
  left.set(key, times - 1);
  if (state === undefined) {
    const next = `${stateOf(params["arguments"])} ${run}`;
    states.set(next, (states.get(next) ?? 0) + 1);
  }
}
