import { Refusal } from "../../../refusals.ts";
import type { Context } from "../../../context.ts";
import type { ChosenGrant, Request } from "../../../requests/model/request.ts";
import { patternSentence } from "../../../requests/model/pattern-words.ts";
import type { Language } from "../../../requests/model/sentence-words.ts";
import { mayGrantCall } from "../../../requests/decide/grant-call.ts";
import { readAlike } from "../../../requests/read/read-alike.ts";
import type { WireAlike } from "../../../wire/alike.ts";
import type { InboxDecisionBody } from "../../../wire/inbox.ts";

/** Returns the patterns that this person may allow beside a call, in the words of a language; none where they may not. */
export async function alikeBody(
  ctx: Context,
  request: Request,
  { person, language }: { person: string; language: Language },
): Promise<WireAlike> {
  const isOffered = request.state === "open" && (await mayGrantCall(ctx, request, person));
  const patterns = isOffered ? await readAlike(ctx, request) : [];
  return {
    patterns: patterns.map(({ id, when, covered }) => ({ id, says: patternSentence({ when }, language), covered })),
    has_run: runOf(request) !== undefined,
  };
}

/**
 * Returns what a decision grants: exactly this call, or the pattern that it names, as this server would offer it now.
 *
 * @throws {Refusal} `not_grantable` where it grants what it may not, or what is no longer offered
 */
export async function chosenGrant(
  ctx: Context,
  request: Request,
  { given, person }: { given: InboxDecisionBody; person: string },
): Promise<true | ChosenGrant | undefined> {
  const { standing, like } = given;
  if (!standing && like === undefined) return undefined;
  if (!(await mayGrantCall(ctx, request, person))) {
    throw new Refusal("not_grantable", {}, "This cannot be allowed for good here; approve it alone.");
  }
  if (given.kwargs !== undefined) {
    throw new Refusal("not_grantable", {}, "Edited arguments are approved once; nothing like them can be allowed.");
  }
  if (like === undefined) return true;
  const offered = (await readAlike(ctx, request)).find(({ id }) => id === like.pattern);
  if (!offered) throw new Refusal("not_grantable", {}, "This pattern is not offered any more; look at it again.");
  const run = like.this_run === true ? runOf(request) : undefined;
  if (like.this_run === true && run === undefined) {
    throw new Refusal("not_grantable", {}, "This call names no session of its agent.");
  }
  const pattern = { when: offered.when, ...(run !== undefined && { run }) };
  return { pattern, forMs: like.for_s * 1000 };
}

function runOf({ wire }: Request): string | undefined {
  const { run_id: run } = wire;
  return typeof run === "string" ? run : undefined;
}
