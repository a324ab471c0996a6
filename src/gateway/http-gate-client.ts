import { pauseAfter, RESTARTING } from "../lib/back-off.ts";
import type { Clock } from "../lib/clock.ts";
import { canonicalExact, readExactJson } from "../lib/json/exact-json.ts";
import { Redirected } from "../lib/network/fetch.ts";
import type { z } from "zod";
import {
  WireGateAnswer,
  WireJudgedGateTools,
  type GateCallBody,
  type GateCallEndBody,
  type GateToolsBody,
} from "../wire/gate.ts";
import { partsOf } from "./tool-parts.ts";
import { ServerUnreachable, RequestRefused, type GateClient } from "./gate-client.ts";

export interface HttpGateClientOptions {
  /** Where the server is. */
  url: string;
  key: string | undefined;
  /** The gate's name. */
  gate: string;
  /** How long people have; left out, as the server has it. */
  timeoutSeconds: number | undefined;
  clock: Clock;
  fetch: typeof globalThis.fetch;
}

/** For how long a server that is away is tried again. */
const PATIENCE_MS = 60_000;
/** The server is not there, is stopping, or asks for patience. */
const AGAIN = [429, 502, 503, 504];

/** Opens the way to a server by HTTP, with an agent's key; a server that is away is tried again for a minute. */
export function openHttpGateClient(options: HttpGateClientOptions): GateClient {
  const { clock, gate, timeoutSeconds } = options;

  async function post(path: string, body: object, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const start = clock.monotonic();
    for (let failures = 1; ; failures += 1) {
      try {
        return await postOnce(options, path, canonicalExact(body), signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof ServerUnreachable) || clock.monotonic() - start >= PATIENCE_MS) throw error;
      }
      await clock.sleep(pauseAfter(failures, RESTARTING), signal);
      signal?.throwIfAborted();
    }
  }

  return {
    async ask(call, signal) {
      const input: z.input<typeof GateCallBody> = { gate, ...call, timeout_seconds: timeoutSeconds };
      const parsed = WireGateAnswer.safeParse(await post("/gate/calls", input, signal));
      return parsed.success ? parsed.data : refuseOther(options);
    },
    async hold(id, run) {
      await postOnce(options, `/gate/calls/${id}/hold`, canonicalExact({ run })).catch(() => undefined);
    },
    async end(id, run, end) {
      const callEnd: z.input<typeof GateCallEndBody> = { run, ...end };
      await post(`/gate/calls/${id}/end`, callEnd).catch(() => undefined);
    },
    async heldBack(tools, signal) {
      const { parts, misfits } = partsOf(tools);
      const heldBack = new Set(misfits.map(({ name }) => name));
      for (const part of parts) {
        const input: z.input<typeof GateToolsBody> = { gate, tools: part };
        const judged = WireJudgedGateTools.safeParse(await post("/gate/tools", input, signal));
        if (!judged.success) return refuseOther(options);
        for (const name of judged.data.held_back) heldBack.add(name);
      }
      return heldBack;
    },
  };
}

function refuseOther({ url }: HttpGateClientOptions): never {
  throw new RequestRefused(
    `The server at ${url} replies with what this gate does not know: it may be of another version.`,
  );
}

async function postOnce(
  { url, key, fetch }: HttpGateClientOptions,
  path: string,
  body: string,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  let reply: Response;
  let text: string;
  try {
    reply = await fetch(`${url}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body,
      ...(signal && { signal }),
    });
    text = await reply.text();
  } catch (cause) {
    if (cause instanceof Redirected) throw new RequestRefused(cause.message);
    throw new ServerUnreachable(`No Parley server answers at ${url}.`, { cause });
  }
  if (AGAIN.includes(reply.status)) throw new ServerUnreachable(`The Parley server at ${url} asks for patience.`);
  const replyBody = objectIn(text);
  if (reply.ok && replyBody) return replyBody;
  const { message } = (replyBody?.["error"] ?? {}) as { message?: string };
  throw new RequestRefused(message ?? `${url} is not a Parley server: it replied with status ${reply.status}.`);
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value = readExactJson(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
