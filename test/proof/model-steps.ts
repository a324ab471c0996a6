/** Everything that can happen in a story, as fast-check draws it. */
import fc from "fast-check";
import { DAY, HOUR } from "./model-points.ts";
import { steps, which } from "./model-step.ts";
import { asking, reading } from "./model-steps-agents.ts";
import { answering, looking } from "./model-steps-people.ts";
import type { Story } from "./model-story.ts";

const MINUTE = 60_000;

async function advance(story: Story, ms: number, asleep: boolean): Promise<void> {
  if (ms <= 0) return;
  story.note(`advance ${ms} ms${asleep ? ", while the loops sleep" : ""}`);
  story.model.now += ms;
  await story.pair.advance(ms, asleep);
}

const around = fc.integer({ min: -3, max: 2 });
const asleep = fc.boolean();

const passing = [
  steps(
    2,
    "a while",
    fc.record({ ms: fc.constantFrom(500, 20_000, 30_000, 2 * MINUTE, 16 * MINUTE), asleep }),
    async (story, args) => advance(story, args.ms, args.asleep),
  ),
  steps(3, "to a deadline", fc.record({ which, around, asleep }), async (story, args) => {
    const ask = story.ask(args.which);
    if (ask) await advance(story, ask.expiresAt + args.around - story.model.now, args.asleep);
  }),
  steps(1, "to the end of a key", fc.record({ which, around, asleep }), async (story, args) => {
    const { keys, answerKeys } = story.model;
    const ends = [...keys, ...answerKeys]
      .filter(([, { until }]) => until > story.model.now)
      .map(([, { until }]) => until);
    const end = ends[args.which % ends.length];
    if (end !== undefined) await advance(story, end + args.around - story.model.now, args.asleep);
  }),
  steps(
    1,
    "to the next hour or day",
    fc.record({ unit: fc.constantFrom(HOUR, DAY), around, asleep }),
    async (story, args) => advance(story, args.unit - (story.model.now % args.unit) + args.around, args.asleep),
  ),
  steps(1, "days", fc.record({ days: fc.constantFrom(1, 2, 3) }), async (story, args) => {
    await advance(story, args.days * DAY, false);
    await story.pair.sweep();
    story.model.sweep();
  }),
  steps(1, "restart", fc.constant({}), async (story) => {
    story.note("restart");
    await story.pair.restart();
  }),
];

/** Up to `most` steps. */
export function storyOf(most: number): fc.Arbitrary<Iterable<fc.AsyncCommand<Story, object>>> {
  const step = fc.oneof(...asking, ...reading, ...answering, ...looking, ...passing);
  return fc.commands([step], { maxCommands: most, size: "max" });
}
