import type { Context } from "../context.ts";
import { redactJson, stringsOf } from "../lib/json/strings-of.ts";

/** Returns a value in which each secret that is found is `[secret:<rule>]` (spec/relay 15). */
export async function withoutSecrets<T>({ secrets }: Pick<Context, "secrets">, value: T): Promise<T> {
  const { finds } = await secrets.find([...stringsOf(value, (name) => secrets.isSuspect(name))]);
  return redactJson(value, finds);
}
