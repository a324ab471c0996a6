const LONGEST_BYTES = 64_000_000;

/** An event as it came; `isCut` where it is longer than any event. */
export interface SentEvent {
  bytes: Uint8Array;
  isCut: boolean;
}

/**
 * Reads standard input to its end, so that the agent can write all of it; at a terminal there is nothing to read. Once the
 * signal is aborted, the event is what has come until then.
 */
export function sentEvent(signal: AbortSignal): Promise<SentEvent> {
  const { stdin } = process;
  const { promise, resolve } = Promise.withResolvers<SentEvent>();
  const parts: Buffer[] = [];
  let length = 0;
  const end = () => resolve({ bytes: Buffer.concat(parts), isCut: length > LONGEST_BYTES });
  if (stdin.isTTY || signal.aborted) return Promise.resolve({ bytes: Buffer.alloc(0), isCut: false });
  stdin.on("data", (part: Buffer) => {
    length += part.length;
    if (length <= LONGEST_BYTES) parts.push(part);
  });
  // An event that broke off is read as far as it came, and is no whole one.
  stdin.once("end", end).once("error", end);
  signal.addEventListener("abort", end, { once: true });
  return promise;
}
