/** The fetch of this machine, for what is no part of the server. */
export const systemFetch: typeof globalThis.fetch = (...args) => globalThis.fetch(...args);
