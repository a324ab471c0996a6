import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { diceOf, type Dice } from "./sim-dice.ts";
import type { Scheme } from "./sign-forge.ts";
import { mail } from "./sign-mail.ts";
import { receipts } from "./sign-receipts.ts";
import { slack, twilio, twilioJson, webhookIn, webhookOut } from "./sign-requests.ts";
import { closeTokenWorld, cursors, keys, leases, links, openedPages, participants, sessions } from "./sign-tokens.ts";

const FORGERIES = 100_000;
const FORGERIES_PER_HOUR = 3_000_000;
/** The number of forgeries that are made of one true proof. */
const PER_TRUTH = 25;
const MAX_FAILURES = 5;

/** Every way of signing, whatever it signs. */
const SCHEMES: readonly Scheme[] = [
  slack,
  webhookIn,
  webhookOut,
  twilio,
  twilioJson,
  receipts,
  mail,
  sessions,
  keys,
  links,
  leases,
  cursors,
  participants,
  openedPages,
] as readonly unknown[] as readonly Scheme[];

/**
 * Tests all proofs by a signature or a secret, and forgeries of them: bytes, headers, times, algorithms, keys, order
 * and
 * fields given twice. Every true proof is accepted. No forgery with another meaning is accepted (spec/invariants N2,
 * N5,
 * A9; spec/channels 4).
 */
export const sign: Harness = {
  name: "sign",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const base = firstSeedOf(options);
    const wanted = options.longHours ? FORGERIES_PER_HOUR * options.longHours : FORGERIES;
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const failures: Failure[] = [];
    const tried = new Set<string>();
    const done = { truths: 0, forgeries: 0, "same in other words": 0 };
    const isEnough = () =>
      (failures.length > 0 && options.stopAtFirstFailure) ||
      failures.length >= MAX_FAILURES ||
      performance.now() > until;
    for (let seed = base; !isEnough() && done.forgeries < wanted; seed += 1) {
      const dice = diceOf(seed);
      const scheme = schemeOf(dice);
      tried.add(scheme.name);
      const found = await tryScheme(scheme, dice, done);
      if (found !== null) failures.push({ says: found, repeat: `npm run prove -- sign --seed ${seed}` });
      if (options.seed !== undefined) break;
    }
    await closeTokenWorld();
    const isWhole = options.seed === undefined && options.boxMs === undefined && failures.length === 0;
    const untried = SCHEMES.filter(({ name }) => !tried.has(name)).map(({ name }) => name);
    if (isWhole && untried.length > 0) {
      failures.push({ says: `nothing was forged of ${untried.join(", ")}`, repeat: "npm run prove -- sign" });
    }
    return { figures: { seed: base, schemes: SCHEMES.length, ...done }, failures };
  },
};

/** Returns the first forgery of a true thing that was believed, and null where none was. */
async function tryScheme(
  scheme: Scheme,
  dice: Dice,
  done: Record<"truths" | "forgeries" | "same in other words", number>,
): Promise<string | null> {
  const signed = await scheme.make(dice);
  const truth = await signed.read(signed.form);
  done.truths += 1;
  if (truth === null) return `${scheme.name}: what is true was not believed: ${show(signed.form)}`;
  for (let i = 0; i < PER_TRUTH; i += 1) {
    const { says, form, mayMeanTheSame } = signed.forge(dice);
    const read = await signed.read(form);
    done.forgeries += 1;
    if (read === null) continue;
    if (read !== truth || !mayMeanTheSame) {
      return `${scheme.name}: ${says}, and it was believed: ${show(form)} as ${read}, made of ${show(signed.form)} as ${truth}`;
    }
    done["same in other words"] += 1;
  }
  return null;
}

/** Rare ones take long; each scheme comes up as often as its share says. */
function schemeOf(dice: Dice): Scheme {
  let left = dice.int(SCHEMES.reduce((sum, { share }) => sum + share, 0));
  for (const scheme of SCHEMES) {
    left -= scheme.share;
    if (left < 0) return scheme;
  }
  throw new Error("no scheme was drawn");
}

function show(form: unknown): string {
  const text = Buffer.isBuffer(form)
    ? JSON.stringify(form.toString("latin1"))
    : JSON.stringify(form, (_, value: unknown) =>
        value !== null && typeof value === "object" && (value as { type?: string }).type === "Buffer"
          ? Buffer.from((value as { data: number[] }).data).toString("latin1")
          : value,
      );
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
}
