/** How deep arguments may be nested; the server takes no more. */
const MOST_DEPTH = 64;

/**
 * Returns a copy of a value of JSON, which nobody else holds.
 *
 * @throws {TypeError} for what JSON cannot carry, and so nobody could be shown: a Date, a Map, NaN, a BigInt, a function,
 *   half an emoji
 */
export function copyOf<T>(value: T, place = "args"): T {
  return copied(value, place, 0) as T;
}

function copied(value: unknown, place: string, depth: number): unknown {
  if (value === null || typeof value === "boolean" || isText(value)) return value;
  // JSON has one zero.
  if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
  if (depth > MOST_DEPTH) throw new TypeError(`${place} is nested more than ${MOST_DEPTH} deep.`);
  if (Array.isArray(value)) return Array.from(value, (item: unknown, i) => copied(item, `${place}[${i}]`, depth + 1));
  if (!isPlain(value)) throw notCarried(place);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const misnamed = members.find(([name]) => !isText(name));
  if (misnamed) throw notCarried(`${place}.${misnamed[0]}`);
  // A member may have the name "__proto__": an assignment would not make it one.
  return Object.fromEntries(members.map(([name, member]) => [name, copied(member, `${place}.${name}`, depth + 1)]));
}

/**
 * Nothing happens for a request whose texts are whole.
 *
 * @throws {TypeError} that names the member with half an emoji, where a program cut a text: JSON cannot carry it
 */
export function checkTexts(value: unknown, place = ""): void {
  if (typeof value === "string" && !isText(value)) throw notCarried(place);
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${place}[${name}]` : place === "" ? name : `${place}.${name}`;
    if (!isText(name)) throw notCarried(at);
    checkTexts(member, at);
  }
}

function notCarried(place: string): TypeError {
  return new TypeError(`${place} is nothing that JSON can carry: nobody could be shown it.`);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && !/\p{Surrogate}/u.test(value);
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns the RFC 8785 form of a value of JSON: the same text for equal values, whatever the order of their members. */
export function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = value as Readonly<Record<string, unknown>>;
  // RFC 8785 orders names by UTF-16 code units, as `sort` does by itself.
  const names = Object.keys(members).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(members[name])}`).join(",")}}`;
}

/** Returns the digest that an approval of exactly this call is bound to (spec/a2h 10). */
export async function consentDigest(fn: string, kwargs: object): Promise<string> {
  return digestOf(canonical({ fn, kwargs }));
}

/** Returns the digest of a text. */
export async function digestOf(text: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
