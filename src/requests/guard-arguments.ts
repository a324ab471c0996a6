import type { Context } from "../context.ts";
import { canonicalExact } from "../lib/exact-json.ts";
import { redactJson, stringsOf } from "../lib/strings-of.ts";
import { turnAfter } from "../lib/turn.ts";
import type { BoundCall } from "./model/bound-call.ts";

/** The arguments of a call that hold a secret, as a request carries them. */
export interface GuardedArguments {
  /** The names of those arguments. */
  guarded: readonly string[];
  /** The canonical JSON of each, with `[secret:<rule>]` in the place of each secret. */
  masked: Readonly<Record<string, string>>;
}

/**
 * Returns those arguments of a call that hold a secret, by their names or in what they say; null where there are none.
 * They are never altered, since that would change what is approved: people see each with its secrets masked, and
 * whole after a press, and what leaves this server does not hold them (spec/security 4.7). A search that took too long
 * counts as none.
 */
export async function argumentsWithSecrets(
  { secrets }: Pick<Context, "secrets">,
  { parsed, canonical }: Pick<BoundCall, "parsed" | "canonical">,
): Promise<GuardedArguments | null> {
  const members = Object.keys(parsed)
    .sort()
    .map((name) => [name, parsed[name]] as const);
  const isTelling = (name: string) => secrets.isSuspect(name);
  await turnAfter(canonical);
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
