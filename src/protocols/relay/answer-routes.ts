import type { JsonObject } from "../../lib/json-body.ts";
import { z } from "zod";
import { canonicalExact, sha256Digest } from "../../lib/exact-json.ts";
import { stringsOf } from "../../lib/strings-of.ts";
import { turnAfter } from "../../lib/turn.ts";
import { isArtifactPath } from "../../asks/model/artifact-rules.ts";
import { lengthOf, refuseFields, type FieldProblem } from "../../core/model/field-problem.ts";
import { MOST_ANSWER_CHARS } from "../../asks/model/people.ts";
import { ASK_STATUSES, type AnswerStatus } from "../../asks/model/ask.ts";
import { Refusal } from "../../refusals.ts";
import { postAnswer, type AnswerWish } from "../../asks/post-answer.ts";
import { readRelayAsk } from "../../asks/read.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { isText, readId } from "./ask-fields.ts";
import { enter } from "./job-requests.ts";
import { WireAnswerOrAsk } from "../../wire/ask.ts";
import { answerWire, askWire } from "./print.ts";
import { bodyOf, routeOptions } from "./request.ts";

const STATUSES = ASK_STATUSES.filter((status) => status !== "PENDING");
const MOST_JSON_BYTES = 65_536;
const MOST_ASK_BACK = 1000;
const MOST_ARTIFACTS = 64;
const AnswerBody = z.record(z.string(), z.unknown()).meta({
  type: "object",
  required: ["ask_id", "job_id", "step_id", "status"],
  properties: {
    ask_id: { type: "string" },
    job_id: { type: "string" },
    step_id: { type: "string" },
    status: { type: "string", enum: STATUSES },
    answer_text: { type: "string", maxLength: MOST_ANSWER_CHARS },
    answer_json: {},
    artifacts: { type: "array", items: { type: "string" } },
    ask_back: { type: "string" },
    error: { type: "string" },
  },
});

/** Answering as a person or a service, by a key (spec/relay 5). */
export function answerRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.post(
    "/answers",
    routeOptions({
      summary: "Answer an ask",
      body: AnswerBody,
      reply: WireAnswerOrAsk,
      replies: { 202: "The answer that stands" },
    }),
    async (request, reply) => {
      const { scope, principal, name, person, isOpen } = await enter(door, request, [
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
      const body = bodyOf(request, AnswerBody);
      await turnAfter(request.body as Buffer);
      const wish = readAnswer(body);
      await turnAfter(request.body as Buffer);
      await refuseSecrets(door, wish);
      const answer = await postAnswer(ctx, { principal, name, person }, wish);
      if (answer) return reply.code(202).send(answerWire(answer));
      // It counts, and others have to agree.
      const { ask } = await readRelayAsk(ctx, wish.askId, { principal, readsAll: true });
      return reply.code(202).send(askWire(ask));
    },
  );
}

/** @throws {Refusal} `invalid_input`, and `answer_misfit` for what is too long */
function readAnswer(body: JsonObject): AnswerWish {
  const problems: FieldProblem[] = [];
  const say = (field: string, constraint: string, facts: JsonObject = {}): void =>
    void problems.push({ message: "Request body is not valid", field, constraint, ...facts });
  if (body["type"] !== undefined && body["type"] !== "Answer") say("type", "enum", { allowed: ["Answer"] });
  const askId = readId(body, "ask_id", say);
  const jobId = readId(body, "job_id", say);
  const stepId = readId(body, "step_id", say);
  const { status, answer_text: text, answer_json: json, artifacts, ask_back: askBack, error } = body;
  if (status === undefined) say("status", "required");
  else if (!STATUSES.includes(status as AnswerStatus)) say("status", "enum", { allowed: STATUSES });
  for (const [name, value] of Object.entries({ answer_text: text, ask_back: askBack, error })) {
    if (value !== undefined && typeof value !== "string") say(name, "type");
    else if (value !== undefined && !isText(value)) say(name, "characters");
  }
  const areTexts =
    artifacts === undefined || (Array.isArray(artifacts) && artifacts.every((one) => typeof one === "string"));
  if (!areTexts) say("artifacts", "type");
  if (problems.length > 0) throw refuseFields(problems);
  const paths = artifacts as string[] | undefined;
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
    status: status as AnswerStatus,
    ...(typeof text === "string" && { text }),
    ...(json !== undefined && { json }),
    ...(paths && { artifacts: paths }),
    ...(typeof askBack === "string" && { askBack }),
    ...(typeof error === "string" && { error }),
    bodyHash: sha256Digest(canonicalExact(body)),
  };
}

/** Answers of people and services hold no secrets, ever (spec/relay 15). @throws {Refusal} `secret_detected` */
async function refuseSecrets({ ctx }: DoorContext, wish: AnswerWish): Promise<void> {
  const { text, json, artifacts, askBack, error } = wish;
  const said = { answer_text: text, answer_json: json, artifacts, ask_back: askBack, error };
  const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  const { finds } = await ctx.secrets.find([...stringsOf(given, ctx.secrets.isSuspect)]);
  if (finds.length === 0) return;
  throw new Refusal("secret_detected", { finds: finds.map(({ path, rule, from, to }) => ({ path, rule, from, to })) });
}
