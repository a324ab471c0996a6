import { systemClock } from "../../lib/clock.ts";
import { linesOf } from "../../lib/lines.ts";
import { openModel } from "./model.ts";
import { FailedCall, takeTurn } from "./turn.ts";
import { type FromChild, lineOf, type ToChild } from "./wire.ts";

/**
 * The process that speaks with the model, and with nobody else: it reads no file but the program's, writes none, and
 * holds no tool. It requests everything else of its parent, one line of JSON at a time.
 */
const lines = linesOf(process.stdin);

function say(message: FromChild): void {
  process.stdout.write(lineOf(message));
}

async function nextMessage<Kind extends ToChild["type"]>(kind: Kind): Promise<Extract<ToChild, { type: Kind }>> {
  const { value, done } = await lines.next();
  if (done) process.exit(0);
  const message = JSON.parse(value) as ToChild;
  if (message.type !== kind) throw new Error(`the parent sent ${message.type} instead of ${kind}`);
  return message as Extract<ToChild, { type: Kind }>;
}

async function main(): Promise<void> {
  const { address } = await nextMessage("begin");
  const model = await openModel(address);
  say({ type: "ready" });
  // The first prompt, and a second one where the first answer did not fit.
  for (;;) {
    const { turn } = await nextMessage("turn");
    const over = new AbortController();
    const received = new AbortController();
    void systemClock.sleep(turn.limitMs, received.signal).then(() => over.abort());
    try {
      const text = await takeTurn(
        turn,
        { model, temperature: address.temperature, clock: systemClock, signal: over.signal },
        {
          async maySpend(most) {
            say({ type: "spend", most });
            return (await nextMessage("spend")).may;
          },
          spent: (tokens) => say({ type: "spent", tokens }),
          async call(name, args) {
            say({ type: "call", name, args });
            return (await nextMessage("result")).text;
          },
        },
      );
      say({ type: "done", text });
    } catch (error) {
      if (over.signal.aborted) say({ type: "failed", why: "time", says: `no answer in ${turn.limitMs} ms` });
      else if (error instanceof FailedCall) say({ type: "failed", why: error.why, says: error.message });
      else throw error;
    }
    received.abort();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
