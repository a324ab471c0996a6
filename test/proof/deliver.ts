import { createHmac } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { type DatabaseName, DATABASES } from "../support/world.ts";
import { deliverStory, type DeliverStory, type Mail } from "./deliver-story.ts";
import type { Failure, Harness, HarnessOptions, HarnessReport } from "./harness.ts";
import { listPoints } from "./kill-process.ts";

/** Kills at random times beside those at each point. */
const CYCLES = 4;
const LONG_CYCLES_PER_HOUR = 200;
const POINTS = /^(addressed|decision|delivery)-/;

/**
 * The shipped process with mail going out to a server of its own, killed while messages are under way and while people
 * decide: everybody who is asked gets a message, nobody else ever does, a message that was sent twice is the same
 * message, and every decision stands once, as it was acknowledged (spec/invariants D1, N1; spec/channels 1.1).
 */
export const deliver: Harness = {
  name: "deliver",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
    const cycles = options.longHours ? Math.ceil(LONG_CYCLES_PER_HOUR * options.longHours) : CYCLES;
    const points = listPoints().filter((point) => POINTS.test(point));
    const failures: Failure[] = [];
    const stories = await Promise.all(
      DATABASES.map((on, i) =>
        tell(on, { points, cycles, random: seededBy(seed + i), trace: options.trace }, failures, seed),
      ),
    );

    const total = (pick: (story: DeliverStory) => number) => stories.reduce((sum, story) => sum + pick(story), 0);
    const missed = points.filter((point) => !stories.some(({ pointsHit }) => pointsHit.includes(point)));
    if (missed.length > 0) failures.push({ says: `nobody died at ${missed.join(", ")}`, repeat: repeatOf(seed) });
    return {
      figures: {
        seed,
        kills: total(({ kills }) => kills),
        asks: total(({ asks }) => asks),
        mails: total(({ mails }) => mails),
        "sent again": total(({ again }) => again),
        decisions: total(({ decisions }) => decisions),
      },
      failures,
    };
  },
};

const repeatOf = (seed: number): string => `npm run prove -- deliver --seed ${seed}`;

async function tell(
  on: DatabaseName,
  plan: { points: readonly string[]; cycles: number; random: () => number; trace: boolean },
  failures: Failure[],
  seed: number,
): Promise<DeliverStory> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    onData(stream, session, done) {
      let raw = "";
      stream.setEncoding("utf8").on("data", (text: string) => (raw += text));
      stream.on("end", () => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw });
        done();
      });
    },
  });
  // The sending server is killed in the middle of a message. The mail server sees a broken connection.
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  try {
    return await deliverStory({
      ...plan,
      on,
      mails,
      smtpUrl: `smtp://127.0.0.1:${port}`,
      onProblem: (says) => failures.push({ says: `on ${on}: ${says}`, repeat: repeatOf(seed) }),
    });
  } finally {
    await new Promise<void>((resolve) => server.close(resolve));
  }
}

/** Returns numbers between 0 and 1 that a seed repeats. */
function seededBy(seed: number): () => number {
  let drawn = 0;
  return () =>
    createHmac("sha256", String(seed))
      .update(String((drawn += 1)))
      .digest()
      .readUInt32BE(0) /
    2 ** 32;
}
