import type { Context } from "../context.ts";
import { readExactJson } from "../lib/exact-json.ts";
import { stringsOf } from "../lib/strings-of.ts";
import { turnAfter } from "../lib/turn.ts";

/**
 * Returns the names of those arguments of a call that hold a secret, by their names or in what they say. They are never
 * altered, since that would change what is approved: people see them after a press, and what leaves this server does not
 * hold them (spec/security 4). A search that took too long counts as none.
 */
export async function argumentsWithSecrets(
  { secrets }: Pick<Context, "secrets">,
  kwargs: string,
): Promise<readonly string[]> {
  const members = Object.entries(readExactJson(kwargs) as Readonly<Record<string, unknown>>);
  const isTelling = (name: string) => secrets.isSuspect(name);
  await turnAfter(kwargs);
  const { finds } = await secrets.find(
    members.flatMap(([name, value], i) => [
      ...(isTelling(name) ? [{ path: `${i}`, text: name }] : []),
      ...[...stringsOf(value, isTelling, "", name)].map((one) => ({ ...one, path: `${i}` })),
    ]),
  );
  const found = new Set(finds.map(({ path }) => Number(path)));
  return members.filter((_, i) => found.has(i)).map(([name]) => name);
}
