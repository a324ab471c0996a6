import { z } from "zod";
import { digestOf } from "../../lib/json/canonical-json.ts";
import { createQuestion } from "../../questions/create.ts";
import { checkFields } from "../http/check-fields.ts";
import { askOf, normalizeQuestion } from "../http/new-question.ts";
import { checkOptions, promptField, questionFields, questionTypeField } from "../../wire/question.ts";
import { flagSecrets } from "../http/secrets.ts";
import { pollUrl, wireStatus, wireTime } from "../http/question.ts";
import type { DoorContext } from "../http/door.ts";
import { clientOf, type McpRequest } from "./message.ts";
import type { JsonMembers } from "./rpc.ts";
import { toolResult } from "./tool-result.ts";

const Question = z
  .object({
    question: promptField,
    type: questionTypeField.optional(),
    ...questionFields,
  })
  .check(checkOptions);

/** Sets the type to `multiple_choice` where options but no type are given. */
function withType(given: object): object {
  const { type, options } = given as { type?: unknown; options?: unknown };
  const isChoice = type === undefined && options !== undefined && !(Array.isArray(options) && options.length === 0);
  return isChoice ? { ...given, type: "multiple_choice" } : given;
}

const SUBMITTED = "Question submitted. Poll the URL to check for responses.";
const ASKED_BEFORE = "This question was already asked; use the same question_id.";
const HOW_TO_GO_ON =
  "People answer in their own time. Go on with other work if you can, and call wait_for_human_responses or check_human_responses with this question_id later.";

/**
 * Asks the crowd and returns at once. An identical question that is still open is returned instead of a second one, so
 * that an agent which asks again after a crash does not ask people twice (spec/mcp 4.1).
 *
 * @throws {Refusal} `invalid_input`, `rate_limited`, `quota_exceeded`
 */
export async function askHuman(
  door: DoorContext,
  principal: string,
  call: McpRequest,
  given: object,
): Promise<JsonMembers> {
  const { ctx, config } = door;
  const checked = checkFields(Question, withType(given));
  if ("error" in checked) throw checked.error;
  const { question, type = "text", ...rest } = checked.value;
  const normalized = normalizeQuestion(question, { type, ...rest });
  const flags = await flagSecrets(door, normalized, "question");
  const client = clientOf(call);
  const digest = digestOf(normalized);

  const { question: crowdQuestion, replayed } = await createQuestion(
    ctx,
    { ...askOf(normalized), door: "mcp", asker: principal, wire: { ...(client && { client }), ...flags } },
    { key: digest, bodyHash: digest, whileOpen: true },
  );
  const body = {
    question_id: crowdQuestion.id,
    status: wireStatus(crowdQuestion),
    poll_url: `${config.publicUrl}${pollUrl(crowdQuestion.id)}`,
    message: replayed ? ASKED_BEFORE : SUBMITTED,
    expires_at: wireTime(crowdQuestion.expiresAt),
  };
  return toolResult(JSON.stringify(body), HOW_TO_GO_ON);
}
