import { isExactNumber } from "./exact-json.ts";
import { redact, type Find, type SecretText } from "../secrets/secret-scan.ts";

/** A name that needs no quotes in a path. */
const PLAIN_NAME = /^[A-Za-z_$][\w$-]*$/;

/**
 * Yields every string of a JSON value with its path: `prompt`, `options[2]`, `meta.args.token`. Names of members are
 * strings like any other; those of which `isTelling` is true are yielded too, and stand in paths as their place
 * (`meta{0}` is the value of the first member, `meta{0}#name` its name), so that no path reveals a found secret.
 */
export function* stringsOf(
  value: unknown,
  isTelling: (name: string) => boolean = () => false,
  path = "",
  name?: string,
): Generator<SecretText> {
  if (typeof value === "string") {
    yield { path, text: value, name };
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* stringsOf(item, isTelling, `${path}[${i}]`, name);
  } else if (isMembers(value)) {
    for (const [i, [member, item]] of Object.entries(value).entries()) {
      const isHidden = isTelling(member);
      const step = isHidden ? `${path}{${i}}` : stepTo(path, member);
      if (isHidden) yield { path: `${step}#name`, text: member };
      yield* stringsOf(item, isTelling, step, member);
    }
  }
}

/** Returns the value in the same shape, with `[secret:<rule>]` in the place of each find; what holds none is kept. */
export function redactJson<T>(value: T, finds: readonly Find[]): T {
  if (finds.length === 0) return value;
  const byPath = Map.groupBy(finds, ({ path }) => path);
  const hidden = new Set(finds.flatMap(({ path }) => placesIn(path)));
  return redacted(value, "") as T;

  function redacted(one: unknown, path: string): unknown {
    if (typeof one === "string") return redact(one, byPath.get(path) ?? []);
    if (Array.isArray(one)) return one.map((item, i) => redacted(item, `${path}[${i}]`));
    if (!isMembers(one)) return one;
    const members = new Map<string, unknown>();
    for (const [i, [member, item]] of Object.entries(one).entries()) {
      const place = `${path}{${i}}`;
      const step = hidden.has(place) ? place : stepTo(path, member);
      const name = redact(member, byPath.get(`${place}#name`) ?? []);
      members.set(members.has(name) ? `${name}{${i}}` : name, redacted(item, step));
    }
    return Object.fromEntries(members);
  }
}

/** Returns the steps of a path that stand in the place of a name, each with all that is before it. */
function placesIn(path: string): string[] {
  return [...path.matchAll(/\{\d+\}/g)].map(({ 0: step, index }) => path.slice(0, index + step.length));
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isExactNumber(value);
}

function stepTo(path: string, member: string): string {
  if (!PLAIN_NAME.test(member)) return `${path}[${JSON.stringify(member)}]`;
  return path === "" ? member : `${path}.${member}`;
}
