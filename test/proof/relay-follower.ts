/** Somebody who follows a stream of events through every death of the server. */
export interface Follower {
  /** The numbers of the events, as they came. */
  readonly seen: number[];
  stop(): Promise<void>;
}

const AGAIN_MS = 50;

/** Follows from the first event on, and resumes after the last one it saw. */
export function followForEver(url: () => string, path: string, key: string): Follower {
  const seen: number[] = [];
  const gone = new AbortController();
  const following = follow();
  return {
    seen,
    async stop() {
      gone.abort();
      await following;
    },
  };

  async function follow(): Promise<void> {
    while (!gone.signal.aborted) {
      await read().catch(() => undefined);
      if (!gone.signal.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async function read(): Promise<void> {
    const response = await fetch(`${url()}${path}`, {
      headers: { authorization: `Bearer ${key}`, "last-event-id": String(seen.at(-1) ?? 0) },
      signal: gone.signal,
    });
    if (!response.ok || !response.body) return;
    let text = "";
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      text += part;
      const whole = text.split("\n\n");
      text = whole.pop() ?? "";
      for (const event of whole) {
        const id = /^id: (\d+)$/m.exec(event)?.[1];
        if (id !== undefined) seen.push(Number(id));
      }
    }
  }
}
