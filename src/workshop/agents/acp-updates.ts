import type { JsonObject } from "../../lib/json/json-body.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AttemptUsage } from "../../tasks/model/task.ts";
import type { AgentCallbacks } from "./agent.ts";
import { isEmptyInput } from "./acp-raw-input.ts";
import { toolOf } from "./acp-tools.ts";
import { endedUse } from "./ended-use.ts";
import { countOf, isObject, objectOf, objectsOf, shown, textOf } from "./json-lines.ts";

const MOST_CALLS = 1000;
const MOST_PENDING_CHARACTERS = 65_536;
/** The longest wait for the raw input of a call that an agent asks about before it tells it. */
export const INPUT_WITHIN_MS = 250;

/** Receives the updates of an ACP agent in pieces, and reports them as whole messages. */
export class AcpUpdates {
  readonly #callbacks: AgentCallbacks;
  /** Calls of tools that go on, with all their updates; their first words name the tool. */
  readonly #calls = new Map<string, { name: string; call: JsonObject }>();
  /** Called after each update of a call. */
  readonly #watchers = new Set<() => void>();
  #kind = "";
  #text = "";
  #lastWords = "";
  #usage: AttemptUsage = {};
  #isMuted = false;

  constructor(callbacks: AgentCallbacks) {
    this.#callbacks = callbacks;
  }

  /** Ignores updates for a while: an agent that loads a session sends it again from its beginning. */
  mute(): void {
    this.#isMuted = true;
  }

  unmute(): void {
    this.#isMuted = false;
  }

  take(update: JsonObject): void {
    if (this.#isMuted) return;
    const kind = textOf(update["sessionUpdate"]) ?? "";
    switch (kind) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return this.#addText(kind, textOf(objectOf(update["content"])["text"]) ?? "");
      case "tool_call":
      case "tool_call_update":
        return this.#call(update);
      case "usage_update":
        return this.#cost(objectOf(update["cost"]));
      default:
        return;
    }
  }

  /** Returns a call merged with its earlier updates: agents do not repeat themselves. */
  known(call: JsonObject): { name: string; call: JsonObject } {
    const before = this.#calls.get(textOf(call["toolCallId"]) ?? "");
    if (!before) return { name: toolOf(call), call };
    const present = Object.entries(call).filter(([, value]) => value !== null && value !== undefined);
    const merged: JsonObject = { ...before.call, ...Object.fromEntries(present) };
    const rawInput = mergedInput(before.call["rawInput"], call["rawInput"]);
    // "other" says nothing of what it is.
    const kind = call["kind"] === "other" ? before.call["kind"] : merged["kind"];
    return { name: before.name, call: { ...merged, kind, ...(!isEmptyInput(rawInput) && { rawInput }) } };
  }

  /** Waits until the raw input of a call is known, for a moment at most: some agents ask first, and tell it then. */
  async inputTold(asked: JsonObject, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
    const told = new AbortController();
    const look = () => {
      if (!isEmptyInput(this.known(asked).call["rawInput"])) told.abort();
    };
    look();
    this.#watchers.add(look);
    await clock.sleep(INPUT_WITHIN_MS, AbortSignal.any([told.signal, signal]));
    this.#watchers.delete(look);
  }

  /** Reports the gathered text. */
  flush(): void {
    if (this.#kind === "agent_message_chunk" && this.#text.trim() !== "") this.#lastWords = this.#text;
    if (this.#text.trim() !== "") this.#callbacks.message(shown(this.#text));
    this.#text = "";
  }

  addTokens(input: number, output: number): void {
    const { inputTokens = 0, outputTokens = 0 } = this.#usage;
    this.#count({ inputTokens: inputTokens + input, outputTokens: outputTokens + output });
  }

  /** Returns how the work ended, in the agent's words. */
  summary(): { summary?: string; usage: AttemptUsage } {
    return { ...(this.#lastWords !== "" && { summary: shown(this.#lastWords) }), usage: this.#usage };
  }

  #addText(kind: string, text: string): void {
    if (kind !== this.#kind || this.#text.length > MOST_PENDING_CHARACTERS) this.flush();
    this.#kind = kind;
    this.#text += text;
  }

  #call(update: JsonObject): void {
    this.flush();
    const id = textOf(update["toolCallId"]) ?? "";
    const isNew = !this.#calls.has(id);
    const known = this.known(update);
    const { name, call } = known;
    const { status } = call;
    if (isNew) {
      this.#callbacks.tool({ name, input: call["rawInput"] ?? textOf(call["title"]) });
      // The protocol counts no turns; each call of a tool is at least one.
      this.#count({ turns: (this.#usage.turns ?? 0) + 1 });
    }
    if (status !== "completed" && status !== "failed") {
      if (isNew && this.#calls.size >= MOST_CALLS) this.#calls.clear();
      this.#calls.set(id, known);
      for (const look of this.#watchers) look();
      return;
    }
    this.#calls.delete(id);
    const result = resultOf(call);
    this.#callbacks.tool({ name, result: shown(result), isError: status === "failed", ended: endedUse(id, result) });
  }

  #count(usage: AttemptUsage): void {
    this.#usage = { ...this.#usage, ...usage };
    this.#callbacks.usage(this.#usage);
  }

  #cost(cost: JsonObject): void {
    const amount = countOf(cost["amount"]);
    if (amount !== undefined && cost["currency"] === "USD") this.#count({ costUsd: amount });
  }
}

/** An input that is no object says all of it, and members can be added to an object alone. */
function mergedInput(before: unknown, now: unknown): unknown {
  if (isEmptyInput(now)) return before;
  return isObject(before) && isObject(now) ? { ...before, ...now } : now;
}

function resultOf(call: JsonObject): string {
  const parts = objectsOf(call["content"]).map(({ type, content, path }) =>
    type === "diff" ? (textOf(path) ?? "") : (textOf(objectOf(content)["text"]) ?? ""),
  );
  return parts.join("\n").trim() || (call["rawOutput"] === undefined ? "" : JSON.stringify(call["rawOutput"]));
}
