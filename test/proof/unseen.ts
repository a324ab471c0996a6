import { askOf, RENDERERS } from "../support/unseen-renderers.ts";
import { firstUnseen, UNSEEN_POINTS } from "../support/unseen-points.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { diceOf } from "./sim-dice.ts";

const CALLS = 300;
const CALLS_PER_HOUR = 100_000;
const MAX_FAILURES = 5;
const WORDS = ["pay", "Ana", "❤\ufe0f", "👩\u200d👧", "مرحبا", "ｘ", "\\u200b", "a\nb", '"', "{}", "<b>", " "];

/**
 * Random calls with what nobody can see anywhere in their names and arguments, on everything that shows a call: nothing
 * unseen is shown as it is, and a call that differs by one such code point is shown differently (spec/security 4).
 */
export const unseen: Harness = {
  name: "unseen",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const base = firstSeedOf(options);
    const wanted = options.seed !== undefined ? 1 : (options.longHours ?? 0) * CALLS_PER_HOUR || CALLS;
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const failures: Failure[] = [];
    let calls = 0;
    for (; calls < wanted && performance.now() < until; calls += 1) {
      const says = await wrongWith(base + calls);
      if (says === null) continue;
      failures.push({ says, repeat: `npm run prove -- unseen --seed ${base + calls}` });
      if (options.stopAtFirstFailure || failures.length >= MAX_FAILURES) break;
    }
    const renderers = Object.keys(RENDERERS).length;
    return { figures: { seed: base, calls, renderers, "code points": UNSEEN_POINTS.length }, failures };
  },
};

/**
 * Returns what is wrong with how the random call of a seed is shown. Each seed in turn hides the next few code points, so
 * that it finds the same again alone.
 */
async function wrongWith(seed: number): Promise<string | null> {
  const dice = diceOf(seed);
  const inTurn = UNSEEN_POINTS.filter((_, i) => i % CALLS === seed % CALLS);
  const points = [...inTurn, dice.pick(UNSEEN_POINTS), dice.pick(UNSEEN_POINTS)];
  const text = (): string => Array.from({ length: 1 + dice.int(4) }, () => dice.pick(WORDS)).join("");
  const hiding = (): string => `${text()}${String.fromCodePoint(dice.pick(points))}${text()}`;
  const every = points.map((point) => `x${String.fromCodePoint(point)}`).join("");
  const kwargs = { [hiding()]: every, list: [hiding(), { [hiding()]: hiding() }], to: text() };
  const plain = askOf("send", kwargs, { digest: null });
  const twin = askOf(
    "send",
    { ...kwargs, to: `${kwargs.to}${String.fromCodePoint(dice.pick(points))}` },
    { digest: null },
  );
  const named = askOf(hiding(), kwargs, { digest: null });
  for (const [name, render] of Object.entries(RENDERERS)) {
    const found = firstUnseen(await render(named)) ?? firstUnseen(await render(twin));
    if (found !== undefined) return `${found} is shown as it is by ${name}`;
    if ((await render(plain)) === (await render(twin))) return `two calls that differ look alike on ${name}`;
  }
  return null;
}
