/** The parts that every step of a story uses. */
import fc from "fast-check";
import type { Caller } from "./model-rules.ts";
import type { Story } from "./model-story.ts";

const UNKNOWN = "q_0000000000000000000000";

/** A step with its arguments; `run` does it to the servers and to the model, and throws where they differ. */
export class Step implements fc.AsyncCommand<Story, object> {
  private readonly kind: string;
  private readonly args: unknown;
  private readonly act: (story: Story) => Promise<unknown>;

  constructor(kind: string, args: unknown, act: (story: Story) => Promise<unknown>) {
    this.kind = kind;
    this.args = args;
    this.act = act;
  }

  check(): boolean {
    return true;
  }

  async run(story: Story): Promise<void> {
    await this.act(story);
  }

  toString(): string {
    return `${this.kind} ${JSON.stringify(this.args)}`;
  }
}

/** Steps of one kind, drawn `weight` times as often as those of weight 1. */
export function steps<Args>(
  weight: number,
  kind: string,
  args: fc.Arbitrary<Args>,
  act: (story: Story, args: Args) => Promise<unknown>,
): fc.WeightedArbitrary<Step> {
  return { weight, arbitrary: args.map((given) => new Step(kind, given, (story) => act(story, given))) };
}

// The arbitraries that many steps use

export const which = fc.nat({ max: 30 });
export const agent = fc.nat({ max: 1 });
export const sometimes = <T>(arbitrary: fc.Arbitrary<T>, frequency = 3) =>
  fc.option(arbitrary, { nil: undefined, freq: frequency });
export const caller = fc.record({
  person: fc.nat({ max: 2 }),
  zone: sometimes(fc.constantFrom("Asia/Tokyo", "Pacific/Honolulu", "Nowhere/At_All"), 1),
});

export function callerOf(story: Story, { person, zone }: { person: number; zone?: string | undefined }): Caller {
  const one = story.people[person];
  if (!one) throw new Error("nobody");
  return { ...one, ...(zone !== undefined && { zone }) };
}

export const own = (story: Story, number: number) => ({ headers: { "x-agent-id": story.agent(number) } });

/** Returns the id of a question: an unknown id for 30, or undefined if the story has no question of that number. */
export function idOf(story: Story, number: number): string | undefined {
  return number === 30 ? UNKNOWN : story.ask(number)?.id;
}
