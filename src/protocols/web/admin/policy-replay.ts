import { refuseFields } from "../../../core/model/field-problem.ts";
import { PolicyMistake } from "../../../policy/model/check.ts";
import type { Policy } from "../../../policy/model/policy.ts";
import { loadPolicy } from "../../../policy/model/text.ts";
import { type ReplayedCall, replayPolicy } from "../../../requests/read/replay-policy.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { PolicyReplayBody, WirePolicyReplay } from "../../../wire/policy.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { ADMIN_REFUSALS, timeText } from "./access-routes.ts";

const MOST_CALLS = 10_000;

/** As long as a policy file may be. */
const REPLAY_BYTES = 1_048_576;

/** Mounts the route that tries a policy on recorded calls. */
export function replayRoute(app: Door, door: DoorContext): void {
  app.post(
    "/admin/policy/replay",
    {
      bodyLimit: REPLAY_BYTES,
      config: { takesBody: true, maxBodyBytes: REPLAY_BYTES },
      schema: {
        tags: ["administration"],
        summary: "How a policy file would decide recorded calls",
        body: PolicyReplayBody,
        response: { 200: jsonReply(WirePolicyReplay), 400: ErrorBody, ...ADMIN_REFUSALS },
      },
    },
    async (http) => {
      await administrator(door, http);
      return replayBody(door, http.body as PolicyReplayBody);
    },
  );
}

/**
 * Tries a policy file on the newest recorded calls, or the policy in force where no file is given. Nothing is stored.
 *
 * @throws {Refusal} `invalid_input` for a file with a mistake, with its place
 */
async function replayBody(door: DoorContext, { text, since_s }: PolicyReplayBody): Promise<WirePolicyReplay> {
  const policy = text === undefined ? door.policy.current().policy : await readText(text);
  return replayed(door, policy, since_s);
}

/** Returns how a policy would decide the newest recorded calls. */
export async function replayed(door: DoorContext, policy: Policy, since_s: number): Promise<WirePolicyReplay> {
  const which = { sinceMs: since_s * 1000, most: MOST_CALLS };
  const { calls, more, decisions, matched, contradictions, newest } = await replayPolicy(door.ctx, policy, which);
  return {
    policy_version: policy.policyVersion,
    calls,
    more,
    allowed: decisions.ALLOW,
    refused: decisions.DENY,
    asked: decisions.ESCALATE,
    rules: [...matched],
    contradictions: contradictions.map((one) => ({ ...printCall(one), approved_by_people: one.approvedByPeople })),
    newest: newest.map(printCall),
  };
}

async function readText(text: string): Promise<Policy> {
  try {
    return await loadPolicy(text);
  } catch (error) {
    if (!(error instanceof PolicyMistake)) throw error;
    throw refuseFields(
      error.faults.length > 0 ? [{ message: error.message, field: "text", constraint: "format" }] : [],
    );
  }
}

function printCall({ id, asker, fn, title, createdAt, decision, rule }: ReplayedCall) {
  return { ask_id: id, agent: asker, fn, title, created_at: timeText(createdAt), decision, rule };
}
