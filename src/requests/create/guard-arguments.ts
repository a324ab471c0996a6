import type { Context } from "../../context.ts";
import { canonicalExact, readExactJson } from "../../lib/json/exact-json.ts";
import { redactJson, stringsOf } from "../../lib/json/strings-of.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import type { BoundCall } from "../model/bound-call.ts";
import type { GuardedArguments } from "../model/request.ts";

/**
 * Returns the arguments of a call that hold a secret, by their names or their contents; null if no argument does.
 * They are never altered, since that would change the call to approve. People see each with its secrets masked, and
 * whole after they press a button; messages that leave this server do not hold them (spec/security 4.7). A search that
 * took too long counts as one that found nothing.
 */
export async function argumentsWithSecrets(
  { secrets }: Pick<Context, "secrets">,
  { parsed, canonical }: Pick<BoundCall, "parsed" | "canonical">,
): Promise<GuardedArguments | null> {
  const members = Object.keys(parsed)
    .sort()
    .map((name) => [name, parsed[name]] as const);
  const isTelling = (name: string) => secrets.isSuspect(name);
  await yieldAfterLarge(canonical);
  const { finds } = await secrets.find(
    members.flatMap(([name, value], i) => [
      ...(isTelling(name) ? [{ path: `[${i}]#name`, text: name }] : []),
      ...stringsOf(value, isTelling, `[${i}]`, name),
    ]),
  );
  if (finds.length === 0) return null;
  const masked = redactJson(
    members.map(([, value]) => value),
    finds,
  );
  const found = new Set(finds.map(({ path }) => Number(/^\[(\d+)\]/.exec(path)?.[1])));
  const guarded = members.flatMap(([name], i) => (found.has(i) ? [[name, canonicalExact(masked[i])] as const] : []));
  return { guarded: guarded.map(([name]) => name), masked: Object.fromEntries(guarded) };
}

/** Returns the same for canonical JSON of arguments. */
export async function secretsOfArguments(
  ctx: Pick<Context, "secrets">,
  canonical: string,
): Promise<GuardedArguments | null> {
  const parsed = readExactJson(canonical) as Readonly<Record<string, unknown>>;
  return argumentsWithSecrets(ctx, { parsed, canonical });
}
