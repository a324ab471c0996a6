import { durationText } from "../../lib/duration.ts";
import { localTime } from "../../lib/local-time.ts";
import { printable } from "../../lib/printable.ts";
import { agentName } from "../../policy/model/policy.ts";
import { replayPolicy, type Contradiction, type PolicyReplay } from "../../requests/read/replay-policy.ts";
import { withStore } from "../command-store.ts";
import { command, type Io, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { print, table, utcText } from "../print.ts";
import { timeWithin } from "../values.ts";
import { policyPath, readPolicy } from "./input.ts";
import { lookAt } from "./policy.ts";

const WEEK_MS = 7 * 86_400_000;
const YEAR_MS = 365 * 86_400_000;
const PROGRESS_CALLS = 1000;

export const policyReplay = command({
  takes: {
    "[FILE]": "a policy file; left out, that of the installation",
    "--since TIME": { help: "how far back, such as 24h or 7d; left out, 7d", read: timeWithin(60_000, YEAR_MS) },
    ...JSON_FLAG,
    ...STORE_FLAGS,
  },
  example: "parley policy replay new-policy.yaml --since 7d",
  async run({ file, since: sinceMs = WEEK_MS, json, ...place }, io) {
    return lookAt(io, async () => {
      const policy = await readPolicy(file ?? policyPath(place, io));
      const replay = await withStore(place, io, (ctx) =>
        replayPolicy(ctx, policy, { sinceMs, onProgress: callsTold(io) }),
      );
      return print(json, wireOf(replay), lines(replay, sinceMs), io);
    });
  },
});

/** Returns what says the number of calls that were read so far, each thousand. */
export const callsTold =
  (io: Io) =>
  (calls: number): void => {
    if (calls > 0 && calls % PROGRESS_CALLS === 0) io.tell(`${calls} calls`);
  };

function lines({ calls, decisions, matched, contradictions }: PolicyReplay, sinceMs: number): string[] {
  const { ALLOW: allowed, DENY: refused, ESCALATE: asked } = decisions;
  const rules = matched.map(({ rule, calls: count, changed }) => {
    return [printable(rule), changed === undefined ? `${count}` : `${count}, only observed: would change ${changed}`];
  });
  return [
    `${calls} calls of the last ${durationText(sinceMs)}: ${allowed} allowed, ${refused} refused, ${asked} asked`,
    ...(rules.length > 0 ? ["", ...table(["RULE", "CALLS"], rules)] : []),
    ...sectionOf(
      "that people refused would be allowed",
      contradictions.filter(({ approvedByPeople }) => !approvedByPeople),
    ),
    ...sectionOf(
      "that people approved would be refused",
      contradictions.filter(({ approvedByPeople }) => approvedByPeople),
    ),
  ];
}

function sectionOf(words: string, calls: readonly Contradiction[]): string[] {
  if (calls.length === 0) return [];
  const rows = calls.map(({ id, createdAt, asker, fn, rule }) => {
    return [id, localTime(createdAt), printable(agentName(asker)), printable(fn), printable(rule)];
  });
  return ["", `${calls.length} ${words}:`, ...table(["REQUEST", "ASKED", "AGENT", "FUNCTION", "RULE"], rows)];
}

const wireOf = ({ calls, decisions, matched, contradictions }: PolicyReplay): object => ({
  calls,
  allowed: decisions.ALLOW,
  refused: decisions.DENY,
  asked: decisions.ESCALATE,
  rules: matched,
  contradictions: contradictions.map(({ id, createdAt, asker, fn, title, approvedByPeople, decision, rule }) => ({
    ask_id: id,
    created_at: utcText(createdAt),
    agent: agentName(asker),
    fn,
    title,
    approved_by_people: approvedByPeople,
    decision,
    rule,
  })),
});
