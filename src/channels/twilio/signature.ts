import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { RawRequest } from "../channel.ts";

/** Fields of a form, each with every value it was given. */
export type FormFields = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the fields of a request that Twilio signed for this address, or nothing for any other request: HMAC-SHA1 over
 * the public URL as it was configured, with its port or without, and the sorted fields, or, for JSON, over the URL that holds the body's SHA-256.
 *
 * Twilio signs no time, so whoever calls this drops the message ids it has seen (spec/channels 4).
 */
export function verifiedForm(http: RawRequest, url: string, authToken: string): FormFields | undefined {
  const signature = onlyHeader(http.rawHeaders, "x-twilio-signature");
  if (signature === undefined) return undefined;
  const full = http.query === "" ? url : `${url}?${http.query}`;
  const type = onlyHeader(http.rawHeaders, "content-type") ?? "";
  const digest = new URLSearchParams(http.query).getAll("bodySHA256");
  if (/^application\/json\b/i.test(type)) {
    const isSame = digest.length === 1 && sameText(digest[0] ?? "", sha256(http.body));
    if (!isSame || !isSigned(full, "", signature, authToken)) return undefined;
    return formOfJson(http.body);
  }
  const form = formOf(http.body.toString("utf8"));
  const fields = [...form.keys()].sort().map((name) => {
    const values = [...new Set(form.get(name))].sort();
    return values.map((value) => name + value).join("");
  });
  return isSigned(full, fields.join(""), signature, authToken) ? form : undefined;
}

/** Returns the only value of a field. */
export function fieldOf(form: FormFields, name: string): string | undefined {
  const values = form.get(name) ?? [];
  return values.length === 1 ? values[0] : undefined;
}

function isSigned(url: string, fields: string, signature: string, authToken: string): boolean {
  return spellingsOf(url).some((spelling) =>
    sameText(createHmac("sha1", authToken).update(`${spelling}${fields}`, "utf8").digest("base64"), signature),
  );
}

/** Twilio signs an address with its port or without, and its own libraries take both. */
function spellingsOf(url: string): string[] {
  const [, scheme = "", host = "", port = "", rest = ""] =
    /^(https?:\/\/)(\[[^\]]*\]|[^/?#:]*(?![^/?#:]))(:\d*)?(?!\d)(.*)$/i.exec(url) ?? [];
  const usual = scheme.toLowerCase() === "https://" ? ":443" : ":80";
  return [`${scheme}${host}${rest}`, `${scheme}${host}${port || usual}${rest}`];
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function formOf(body: string): FormFields {
  const form = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(body)) {
    const values = form.get(name);
    if (values) values.push(value);
    else form.set(name, [value]);
  }
  return form;
}

function formOfJson(body: Buffer): FormFields | undefined {
  try {
    const given: unknown = JSON.parse(body.toString("utf8"));
    if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
    const texts = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    return new Map(texts.map(([name, value]) => [name, [value]]));
  } catch {
    return undefined;
  }
}

function onlyHeader(rawHeaders: readonly string[], name: string): string | undefined {
  const values = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
  return values.length === 1 ? values[0] : undefined;
}
