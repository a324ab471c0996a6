/** Bodies of webhook events are JSON objects: what begins like this is one that is kept encrypted. */
export const SEALED_BODY = "sealed:";

/** Returns what is sealed in a kept body; null where it is kept as it is. */
export const sealedBodyOf = (body: string): string | null =>
  body.startsWith(SEALED_BODY) ? body.slice(SEALED_BODY.length) : null;
