import type { Clock } from "../lib/clock.ts";
import { canonicalExact, readExactJson } from "../lib/exact-json.ts";
import { Redirected } from "../lib/fetch.ts";
import type { z } from "zod";
import {
  WireGateAnswer,
  WireJudgedGateTools,
  type GateCallBody,
  type GateCallEndBody,
  type GateToolsBody,
} from "../wire/gate.ts";
import { DeskAway, DeskRefused, type GateDesk } from "./desk.ts";

export interface HttpDeskOptions {
  /** Where the server is. */
  url: string;
  key: string | undefined;
  /** How the gate is called. */
  gate: string;
  /** How long people have; left out, as the server has it. */
  timeoutSeconds: number | undefined;
  clock: Clock;
  fetch: typeof globalThis.fetch;
}

/** For how long a server that is away is tried again. */
const PATIENCE_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 3000;
/** The server is not there, is stopping, or asks for patience. */
const AGAIN = [429, 502, 503, 504];

/** Opens the way to a server by HTTP, with an agent's key; a server that is away is tried again for a minute. */
export function openHttpDesk(options: HttpDeskOptions): GateDesk {
  const { clock, gate, timeoutSeconds } = options;

  async function post(path: string, body: object, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const start = clock.monotonic();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await postOnce(options, path, canonicalExact(body), signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof DeskAway) || clock.monotonic() - start >= PATIENCE_MS) throw error;
      }
      await clock.sleep(pauseMs, signal);
      signal?.throwIfAborted();
    }
  }

  return {
    async ask(call, signal) {
      const wish: z.input<typeof GateCallBody> = { gate, ...call, timeout_seconds: timeoutSeconds };
      const told = WireGateAnswer.safeParse(await post("/gate/calls", wish, signal));
      return told.success ? told.data : refuseOther(options);
    },
    async hold(id, run) {
      await postOnce(options, `/gate/calls/${id}/hold`, canonicalExact({ run })).catch(() => undefined);
    },
    async end(id, run, end) {
      const said: z.input<typeof GateCallEndBody> = { run, ...end };
      await post(`/gate/calls/${id}/end`, said).catch(() => undefined);
    },
    async heldBack(tools, signal) {
      const wish: z.input<typeof GateToolsBody> = { gate, tools: [...tools] };
      const judged = WireJudgedGateTools.safeParse(await post("/gate/tools", wish, signal));
      return judged.success ? new Set(judged.data.held_back) : refuseOther(options);
    },
  };
}

function refuseOther({ url }: HttpDeskOptions): never {
  throw new DeskRefused(
    `The server at ${url} replies with what this gate does not know: it may be of another version.`,
  );
}

async function postOnce(
  { url, key, fetch }: HttpDeskOptions,
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
    if (cause instanceof Redirected) throw new DeskRefused(cause.message);
    throw new DeskAway(`No Parley server answers at ${url}.`, { cause });
  }
  if (AGAIN.includes(reply.status)) throw new DeskAway(`The Parley server at ${url} asks for patience.`);
  const said = objectIn(text);
  if (reply.ok && said) return said;
  const { message } = (said?.["error"] ?? {}) as { message?: string };
  throw new DeskRefused(message ?? `${url} is not a Parley server: it replied with status ${reply.status}.`);
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value = readExactJson(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
