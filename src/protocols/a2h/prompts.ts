import type { JsonObject } from "../../lib/json/json-body.ts";
import type { Request } from "../../requests/model/request.ts";
import { cancelRequest, NOBODY_WAITS } from "../../requests/end/end.ts";
import { readDetails, readRequest } from "../../requests/read/read-request.ts";
import { waitForEnd } from "../../requests/wait/wait-for-end.ts";
import { Refusal } from "../../refusals.ts";
import { refusalFrom } from "../http/errors.ts";
import {
  PromptRefused,
  type AskPrompt,
  type DoorContext,
  type PromptingCaller,
  type PromptToAsk,
} from "../http/door.ts";
import type { KnownChannels } from "./addressees.ts";
import { rulesOf } from "./call-routes.ts";
import { createCall, createContact } from "./create.ts";
import { A2H_BODY_BYTES, sentenceOf } from "./errors.ts";
import { checked } from "./fields.ts";
import { callStatusOf } from "./print.ts";
import { readCall, readContact } from "./specs.ts";

/** Returns how hooks within the server ask people: by the verbs of `POST /function_calls` and `/human_contacts`. */
export function promptAsker(door: DoorContext, known: KnownChannels): AskPrompt {
  const { ctx } = door;
  return async (caller, prompt, signal) => {
    let request: Request | undefined;
    try {
      request = await asked(door, { caller, known }, prompt);
      const end = signal.aborted ? request : await waitForEnd(ctx, request, signal);
      if (end.state === "open") throw new PromptRefused("The request was withdrawn.");
      return { callId: String(end.wire["call_id"]), status: callStatusOf(end, await readDetails(ctx, end)) };
    } catch (error) {
      if (request) await withdraw(door, request);
      const refusal = refusalFrom(error);
      if (!refusal) throw error;
      throw new PromptRefused(`Parley refused the request: ${sentenceOf(refusal)}`);
    }
  };
}

async function asked(
  door: DoorContext,
  { caller, known }: { caller: PromptingCaller; known: KnownChannels },
  { kind, body }: PromptToAsk,
): Promise<Request> {
  const { ctx } = door;
  refuseLarge(body);
  const rules = rulesOf(door, caller.isOpen);
  const by = { ...caller, known };
  const { request, replayed } =
    kind === "call"
      ? await createCall(
          ctx,
          door.policy.current().policy,
          by,
          checked((problems) => readCall(body, problems, rules)),
        )
      : await createContact(
          ctx,
          by,
          checked((problems) => readContact(body, problems, rules)),
        );
  // Another hook that asks about the same use may have asked earlier.
  return replayed ? readRequest(ctx, request.id) : request;
}

/** Nothing that is asked in this way is larger than what the routes take. */
function refuseLarge(body: JsonObject): void {
  if (Buffer.byteLength(JSON.stringify(body)) > A2H_BODY_BYTES) throw new Refusal("body_too_large");
}

async function withdraw({ ctx }: DoorContext, { id, asker }: Request): Promise<void> {
  await cancelRequest(ctx, id, { kind: "agent", id: asker }, NOBODY_WAITS).catch(() => undefined);
}
