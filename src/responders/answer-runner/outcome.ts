import { errorText, type ChoiceOption } from "../../asks/model/ask.ts";
import type { ResponderAnswer, ResponderPass } from "../responder.ts";
import type { Role } from "../roles/role.ts";
import { firstChars, type Reading } from "./reading.ts";

const MOST_DOWNGRADED = 1000;

/**
 * Returns what the last reply of a model comes to; the runner adds its attestation (spec/relay 12).
 *
 * A reply that still does not fit is downgraded to its first 1,000 characters, never repeated from the cache. It ends
 * the ask with an error where the role must return JSON, and goes on to people where there is nothing to downgrade to,
 * or where only a listed option is an answer.
 */
export function outcomeOf(
  reading: Reading,
  reply: string,
  asked: { role: Role | null; options: readonly ChoiceOption[] },
): ResponderAnswer | ResponderPass {
  const { text, json, artifacts, askBack, error, isUnsure, truncated, code } = reading;
  if (code !== undefined) return downgraded(code, reading, reply, asked);
  if (error !== undefined) {
    const failure = { code: "E_MODEL", text: error } as const;
    return {
      kind: "pass",
      because: "the model could not do it",
      ...(askBack !== undefined && { askBack }),
      error: failure,
    };
  }
  if (askBack !== undefined) return { kind: "pass", because: "the model asks back", askBack };
  if (isUnsure) return { kind: "pass", because: "the model is not sure enough" };
  return {
    kind: "answer",
    status: "ANSWERED",
    ...(text !== undefined && { text }),
    ...(json !== undefined && { json }),
    ...(artifacts && { artifacts }),
    ...(truncated && { truncated }),
    cacheable: true,
    because: "the model answered",
  };
}

function downgraded(
  code: NonNullable<Reading["code"]>,
  { misfits: [misfit] }: Reading,
  reply: string,
  { role, options }: { role: Role | null; options: readonly ChoiceOption[] },
): ResponderAnswer | ResponderPass {
  const what = misfit ? `${misfit.path || "the reply"} ${misfit.message}` : "the reply cannot be used";
  const error = { code, text: what };
  const because = errorText(code, what);
  if (role?.guardrails.has("must_return_json")) {
    return { kind: "answer", status: "ERROR", cacheable: false, error, because };
  }
  const text = firstChars(reply.replaceAll("\0", "").toWellFormed().trim(), MOST_DOWNGRADED);
  if (text === "" || options.length > 0) return { kind: "pass", because, error };
  return { kind: "answer", status: "ANSWERED", text, cacheable: false, error, because };
}
