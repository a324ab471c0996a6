import type { z } from "zod";
import { ParleyError } from "@parley/sdk/errors";
import { AWAY_MS, Connection, mayPass, persist } from "@parley/sdk/connection";
import { pauseAfter, RESTARTING } from "../lib/back-off.ts";
import { type Clock, steady } from "../lib/clock.ts";
import { readExactJson } from "../lib/json/exact-json.ts";
import {
  WireGateAnswer,
  WireJudgedGateTools,
  type GateCallBody,
  type GateCallEndBody,
  type GatePlanBody,
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

/** The server holds a call for less. */
const REPLY_MS = 120_000;

/** Opens the way to a server by HTTP, with an agent's key; a server that is away is tried again for a minute. */
export function openHttpGateClient(options: HttpGateClientOptions): GateClient {
  const { url, key, gate, timeoutSeconds, fetch } = options;
  const clock = steady(options.clock);
  const headers = { authorization: key === undefined ? undefined : `Bearer ${key}` };
  const way = { url, fetch, clock, parse: readExactJson, retries: 0, timeoutMs: REPLY_MS };
  const connection = new Connection(way, () => headers);

  function postOnce(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    return connection.call("POST", path, { body, signal });
  }
  async function post(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    const pauseMs = (failures: number) => pauseAfter(failures, RESTARTING);
    try {
      return await persist(() => postOnce(path, body, signal), { signal, clock, patienceMs: AWAY_MS, pauseMs });
    } catch (error) {
      throw error instanceof ParleyError ? asGateError(error, url) : error;
    }
  }

  return {
    async ask(call, signal) {
      const input: z.input<typeof GateCallBody> = { gate, ...call, timeout_seconds: timeoutSeconds };
      const parsed = WireGateAnswer.safeParse(await post("/gate/calls", input, signal));
      return parsed.success ? parsed.data : refuseOther(options);
    },
    async hold(id, run) {
      await postOnce(`/gate/calls/${id}/hold`, { run }).catch(() => undefined);
    },
    async end(id, run, end) {
      const callEnd: z.input<typeof GateCallEndBody> = { run, ...end };
      await post(`/gate/calls/${id}/end`, callEnd).catch(() => undefined);
    },
    async plan(plan, signal) {
      const input: z.input<typeof GatePlanBody> = { gate, ...plan, timeout_seconds: timeoutSeconds };
      await post("/gate/plans", input, signal);
    },
    async judge(tools, signal) {
      const { parts, misfits } = partsOf(tools);
      const heldBack = new Set(misfits.map(({ name }) => name));
      const planned = new Set<string>();
      for (const part of parts) {
        const input: z.input<typeof GateToolsBody> = { gate, tools: part };
        const judged = WireJudgedGateTools.safeParse(await post("/gate/tools", input, signal));
        if (!judged.success) return refuseOther(options);
        for (const name of judged.data.held_back) heldBack.add(name);
        for (const name of judged.data.planned ?? []) planned.add(name);
      }
      return { heldBack, planned };
    },
  };
}

function refuseOther({ url }: HttpGateClientOptions): never {
  throw new RequestRefused(
    `The server at ${url} replies with what this gate does not know: it may be of another version.`,
  );
}

function asGateError(cause: ParleyError, url: string): ServerUnreachable | RequestRefused {
  const { code, status, message } = cause;
  if (mayPass(cause)) {
    const says =
      status === 0 ? `No Parley server answers at ${url}.` : `The Parley server at ${url} asks for patience.`;
    return new ServerUnreachable(says, { cause });
  }
  const isRedirect = status >= 300 && status < 400;
  return new RequestRefused(
    code === "BAD_REPLY" && !isRedirect ? `${url} is not a Parley server: it replied with status ${status}.` : message,
  );
}
