import type { JsonObject } from "../../lib/json/json-body.ts";
import { z } from "zod";
import { canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { stringsOf } from "../../lib/json/strings-of.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { isArtifactPath } from "../../asks/model/artifact-rules.ts";
import { lengthOf } from "../../core/model/field-problem.ts";
import { MOST_ANSWER_CHARS } from "../../asks/model/people.ts";
import { Refusal } from "../../refusals.ts";
import { postAnswer, type AskAnswerInput } from "../../asks/end/post-answer.ts";
import { readAsk } from "../../asks/read/read-ask.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { checkFields } from "../http/check-fields.ts";
import { enter } from "./job-requests.ts";
import { WireAnswerOrAsk } from "../../wire/relay/ask.ts";
import { AskAnswerBody, relayProblem } from "../../wire/relay/new-ask.ts";
import { answerWire, askWire } from "./print.ts";
import { bodyOf, routeOptions } from "./request.ts";

const MOST_JSON_BYTES = 65_536;
const MOST_ASK_BACK = 1000;
const MOST_ARTIFACTS = 64;
/** Members that are unknown here are part of what a repeated answer is compared with. */
const AnyObject = z.record(z.string(), z.unknown());

/** Answering as a person or a service, by a key (spec/relay 5). */
export function answerRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.post(
    "/answers",
    routeOptions({
      summary: "Answer an ask",
      body: AskAnswerBody,
      reply: WireAnswerOrAsk,
      replies: { 202: "The answer that stands" },
    }),
    async (http, reply) => {
      const { scope, principal, name, person, isOpen } = await enter(door, http, [
        "answer",
        "admin",
        "executor",
        "agent",
        "assign",
      ]);
      if (isOpen) throw new Refusal("key_required");
      // An admin answers as the person whose key it is.
      if (scope !== "answer" && !(scope === "admin" && person !== null)) {
        throw new Refusal("scope_missing", { scope: "answer" });
      }
      const body = bodyOf(http, AnyObject);
      await yieldAfterLarge(http.body as Buffer);
      const input = readAnswer(body);
      await yieldAfterLarge(http.body as Buffer);
      await refuseSecrets(door, input);
      const answer = await postAnswer(ctx, { principal, name, person }, input);
      if (answer) return reply.code(202).send(answerWire(answer));
      // It counts, and others have to agree.
      const { ask } = await readAsk(ctx, input.askId, { principal, readsAll: true });
      return reply.code(202).send(askWire(ask));
    },
  );
}

/** @throws {Refusal} `invalid_input`, and `answer_misfit` for what is too long */
function readAnswer(body: JsonObject): AskAnswerInput {
  const checked = checkFields(AskAnswerBody, body, relayProblem);
  if ("error" in checked) throw checked.error;
  const { ask_id: askId, job_id: jobId, step_id: stepId, status, ...given } = checked.value;
  const { answer_text: text, answer_json: json, artifacts: paths, ask_back: askBack, error } = given;
  const errors = [
    ...(typeof text === "string" && lengthOf(text) > MOST_ANSWER_CHARS
      ? [{ path: "/answer_text", message: `must have at most ${MOST_ANSWER_CHARS} characters` }]
      : []),
    ...(json !== undefined && Buffer.byteLength(canonicalExact(json)) > MOST_JSON_BYTES
      ? [{ path: "/answer_json", message: `must have at most ${MOST_JSON_BYTES} bytes` }]
      : []),
    ...(typeof askBack === "string" && lengthOf(askBack) > MOST_ASK_BACK
      ? [{ path: "/ask_back", message: `must have at most ${MOST_ASK_BACK} characters` }]
      : []),
    ...(typeof error === "string" && lengthOf(error) > MOST_ANSWER_CHARS
      ? [{ path: "/error", message: `must have at most ${MOST_ANSWER_CHARS} characters` }]
      : []),
    ...(paths && paths.length > MOST_ARTIFACTS
      ? [{ path: "/artifacts", message: `must have at most ${MOST_ARTIFACTS} entries` }]
      : []),
    ...(paths ?? []).flatMap((path, i) =>
      isArtifactPath(path) ? [] : [{ path: `/artifacts/${i}`, message: "must be a relative path" }],
    ),
  ];
  if (errors.length > 0) throw new Refusal("answer_misfit", { errors });
  return {
    askId,
    jobId,
    stepId,
    status,
    ...(typeof text === "string" && { text }),
    ...(json !== undefined && { json }),
    ...(paths && { artifacts: paths }),
    ...(typeof askBack === "string" && { askBack }),
    ...(typeof error === "string" && { error }),
    bodyHash: sha256Digest(canonicalExact(body)),
  };
}

/** Answers of people and services hold no secrets, ever (spec/relay 15). @throws {Refusal} `secret_detected` */
async function refuseSecrets({ ctx }: DoorContext, input: AskAnswerInput): Promise<void> {
  const { text, json, artifacts, askBack, error } = input;
  const answer = { answer_text: text, answer_json: json, artifacts, ask_back: askBack, error };
  const given = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined));
  const { finds } = await ctx.secrets.find([...stringsOf(given, ctx.secrets.isSuspect)]);
  if (finds.length === 0) return;
  throw new Refusal("secret_detected", { finds: finds.map(({ path, rule, from, to }) => ({ path, rule, from, to })) });
}
