import { isArtifactPath } from "../../asks/model/artifact-rules.ts";
import type { FieldProblem } from "../../core/model/field-problem.ts";
import { repoOfKind } from "../../core/model/attempt-kind.ts";
import { LEASE_S } from "../../asks/model/job-rules.ts";
import { PRIORITIES } from "../../asks/model/ask.ts";
import { LOG_LEVELS } from "../../asks/log-job.ts";
import {
  booleanField,
  checkedField,
  fields,
  integerField,
  laterField,
  optional,
  textField,
  wordField,
} from "../http/fields.ts";
import { jsonField, labelsField, objectField, RELAY_ID, relayIdField, typeField } from "./fields.ts";

/** A month: longer than anybody waits for. */
const MOST_TTL_S = 30 * 86_400;
const MOST_ATTEMPTS = 100;
const MOST_KINDS = 32;
/** Of one answer or one result. */
const MOST_NAMED = 64;

export const NewJobBody = fields({
  job_id: optional(relayIdField("job_id")),
  kind: optional(relayIdField("kind")),
  external: optional(booleanField("external")),
  spec: jsonField("spec"),
  env: optional(textField("env", 1, 128)),
  repo: optional(textField("repo", 1, 1000)),
  labels: labelsField("labels"),
  priority: optional(wordField("priority", PRIORITIES)),
  ttl_s: optional(integerField("ttl_s", 1, MOST_TTL_S)),
  max_attempts: optional(integerField("max_attempts", 1, MOST_ATTEMPTS)),
});

export const ClaimBody = fields({
  kinds: optional(
    checkedField<string[]>(
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: MOST_KINDS },
      kindsProblem,
    ),
  ),
  worker_id: textField("worker_id", 1, 128),
  lease_ttl_s: optional(integerField("lease_ttl_s", LEASE_S.least, LEASE_S.most)),
  wait: laterField({ type: "string", description: "Such as 25s; a bare number means seconds." }),
});

export const HeartbeatBody = fields({ type: typeField("Heartbeat"), note: optional(textField("note", 1, 4000)) });

export const ReasonBody = fields({ reason: optional(textField("reason", 1, 1000)) });

export const FinishBody = fields({
  state: wordField("state", ["SUCCEEDED", "FAILED"]),
  reason: optional(textField("reason", 1, 1000)),
  result: jsonField("result"),
  artifacts: optional(
    checkedField<string[]>({ type: "array", items: { type: "string" }, maxItems: MOST_NAMED }, pathsProblem),
  ),
});

export const LogBody = fields({
  type: typeField("Log"),
  step_id: optional(relayIdField("step_id")),
  ask_id: optional(relayIdField("ask_id")),
  level: optional(wordField("level", LOG_LEVELS)),
  message: textField("message", 1, 16_000),
  fields: objectField("fields"),
});

function kindsProblem(value: unknown): FieldProblem | null {
  const field = "kinds";
  if (!isTexts(value)) return { message: "kinds must be a list of strings", field, constraint: "type" };
  if (value.length === 0 || value.length > MOST_KINDS) {
    return { message: `kinds may hold 1 to ${MOST_KINDS}`, field, constraint: "length", min: 1, max: MOST_KINDS };
  }
  const isNamed = value.every((kind) => RELAY_ID.test(kind) || RELAY_ID.test(repoOfKind(kind) ?? ""));
  return isNamed ? null : { message: "kinds must be letters, digits and . _ : -", field, constraint: "format" };
}

function pathsProblem(value: unknown): FieldProblem | null {
  const field = "artifacts";
  if (!isTexts(value)) return { message: "artifacts must be a list of paths", field, constraint: "type" };
  if (value.length > MOST_NAMED) {
    return { message: `artifacts may hold ${MOST_NAMED}`, field, constraint: "length", min: 0, max: MOST_NAMED };
  }
  const arePaths = value.every(isArtifactPath);
  return arePaths ? null : { message: "artifacts must be relative paths", field, constraint: "format" };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
