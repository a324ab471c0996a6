import { durationText } from "../../lib/duration.ts";
import { suggestedLines } from "../../policy/model/suggested-text.ts";
import { loadPolicy } from "../../policy/model/text.ts";
import { type SuggestedPolicy, suggestPolicy } from "../../requests/read/suggest-policy.ts";
import { withStore } from "../command-store.ts";
import { command, EXIT, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { print } from "../print.ts";
import { timeWithin } from "../values.ts";
import { policyPath, readPolicy } from "./input.ts";
import { lookAt } from "./policy.ts";
import { callsTold } from "./replay.ts";

const MONTH_MS = 30 * 86_400_000;
const YEAR_MS = 365 * 86_400_000;

export const policySuggest = command({
  takes: {
    "[FILE]": "a policy file, whose rules are not proposed again; left out, that of the installation",
    "--since TIME": { help: "how far back, such as 7d or 30d; left out, 30d", read: timeWithin(60_000, YEAR_MS) },
    ...JSON_FLAG,
    ...STORE_FLAGS,
  },
  example: "parley policy suggest --since 30d",
  async run({ file, since: sinceMs = MONTH_MS, json, ...place }, io) {
    return lookAt(io, async () => {
      const policy = await readPolicy(file ?? policyPath(place, io));
      const suggested = await withStore(place, io, async (ctx, { policy: { learnAfter: least } }) => {
        if (least === 0) return null;
        return suggestPolicy(ctx, policy, { sinceMs, least, onProgress: callsTold(io) });
      });
      if (suggested === null) {
        io.tell("policy.learn_after is 0, so that no rule is proposed.");
        return EXIT.done;
      }
      const lines = suggestedLines(suggested.rules);
      if (lines.length > 0) await loadPolicy(["version: 1", "rules:", ...lines, ""].join("\n"));
      const { calls, approved, more, rules } = suggested;
      if (more) io.tell("Older calls are left out, because they do not fit into memory together.");
      const counted = `${calls} calls of the last ${durationText(sinceMs)}, ${approved} approved by people and by no rule`;
      io.tell(`${counted}: ${rules.length === 1 ? "1 rule" : `${rules.length} rules`} proposed, and none in force`);
      return print(json, wireOf(suggested), lines, io);
    });
  },
});

const wireOf = ({ calls, approved, more, rules }: SuggestedPolicy): object => ({
  calls,
  approved,
  more,
  rules: rules.map(({ id, when, approved: count, examples, notCovered }) => ({
    id,
    when,
    decision: "ALLOW",
    approved: count,
    examples,
    not_covered: notCovered,
  })),
});
