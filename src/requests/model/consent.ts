import type { Request } from "./request.ts";

/** Returns the text whose SHA-256 an approval is bound to (spec/a2h 10). `kwargs` is canonical JSON. */
export function consentText(fn: string, kwargs: string): string {
  return `{"fn":${JSON.stringify(fn)},"kwargs":${kwargs}}`;
}

/** Returns the digest of the exact call that is approved, or that waits for it. @throws {Error} for what is no approval */
export function consentDigestOf({ id, digest, outcome }: Pick<Request, "id" | "digest" | "outcome">): string {
  const bound = outcome?.digest ?? digest;
  if (bound === null) throw new Error(`${id} was asked without a digest`);
  return bound;
}
