/**
 * The fetch of this machine, for what is no part of the server. It follows nobody who sends it on, so that a key reaches
 * no other address than the one that was named.
 */
export const systemFetch: typeof globalThis.fetch = (input, init) =>
  globalThis.fetch(input, { redirect: "manual", ...init });
