import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { basename } from "node:path";
import { z } from "zod";
import { printable, printableJson } from "../../lib/printable.ts";
import { BadYaml, readYaml } from "../../lib/strict-yaml.ts";
import {
  evaluate,
  nameOf,
  type Policy,
  policyInput,
  type PolicyDecision,
  RULED_RISKS,
} from "../../policy/model/policy.ts";
import { pathText } from "../../policy/model/check.ts";
import { explainDecision } from "../../policy/model/explain.ts";
import { lintDoubts, lintObserved, lintPolicy } from "../../policy/model/lint.ts";
import { hasStore } from "../../core/store/open-store.ts";
import { openGroups, ruleNotes } from "../../server/people.ts";
import { judge } from "../../policy/judge.ts";
import { shippedPolicy } from "../../policy/shipped.ts";
import { type Takes, WrongUsage } from "../arguments.ts";
import { configOf } from "../command-config.ts";
import { withDatabase, withStore } from "../command-store.ts";
import { command, EXIT, type Io, STORE_FLAGS, type StorePlace } from "../command.ts";
import { INPUT_FLAGS, policyPath, readPolicy, readText, UnreadableFile, wordsOf } from "./input.ts";

const FILE_FLAGS = {
  "[FILE]": "a policy file; left out, that of the installation",
  ...STORE_FLAGS,
} as const satisfies Takes;

export const policyTest = command({
  takes: { "--cases CASES": "a file of cases: name, input, decision, rule", ...INPUT_FLAGS, ...FILE_FLAGS },
  example: "parley policy test --action write --env prod",
  async run({ file, cases, ...given }, io) {
    const path = file ?? policyPath(given, io);
    const words = wordsOf(given);
    if ((words === null) === (cases === undefined)) {
      throw new WrongUsage(words ? "--cases names its own inputs" : "say what to test: --action, or --cases FILE");
    }
    return lookAt(io, async () => {
      const policy = await readPolicy(path);
      warn(policy, io);
      if (cases !== undefined) return runCases(policy, cases, io);
      const policyDecision = evaluate(policy, [], policyInput(words ?? {}));
      const { trace, risk } = policyDecision;
      tellObserved(policyDecision, io);
      io.out(printableJson(JSON.stringify({ ...trace, ...(risk && { risk: risk.kind }) }, null, 2)));
      return EXIT.done;
    });
  },
});

export const policyLint = command({
  takes: FILE_FLAGS,
  example: "parley policy lint",
  async run({ file, ...place }, io) {
    const path = file ?? policyPath(place, io);
    return lookAt(io, async () => {
      const policy = await readPolicy(path);
      const notes = [...lintPolicy(policy).map(({ says }) => says), ...(await unknownAsked(policy, place, io))];
      for (const says of notes) io.out(printable(says));
      for (const { says } of lintDoubts(policy)) io.out(printable(`warning: ${says}`));
      for (const { says } of lintObserved(policy)) io.out(printable(`note: ${says}`));
      const count = policy.rules.length;
      io.tell(`${basename(path)}: ${count === 1 ? "1 rule" : `${count} rules`}, version ${policy.policyVersion}`);
      return notes.length > 0 ? EXIT.refused : EXIT.done;
    });
  },
});

export const policyExplain = command({
  takes: { ...INPUT_FLAGS, ...FILE_FLAGS },
  example: "parley policy explain --action deploy --env prod --agent build-bot",
  async run({ file, ...given }, io) {
    const words = wordsOf(given);
    if (!words) throw new WrongUsage("say what to explain, with --action or another flag");
    return lookAt(io, async () => {
      const policy = await readPolicy(file ?? policyPath(given, io));
      const input = policyInput(words);
      const policyDecision =
        file === undefined && hasStore(configOf(given, io))
          ? await withStore(given, io, (ctx) => judge(ctx.db, { policy }, input))
          : evaluate(policy, [], input);
      for (const line of explainDecision(policy, input, policyDecision, shippedPolicy())) io.out(printable(line));
      return EXIT.done;
    });
  },
});

/** Returns a sentence for each rule that asks somebody who is not there, as the people and the groups of this store are. */
async function unknownAsked(policy: Policy, place: StorePlace, io: Io): Promise<string[]> {
  if (policy.rules.every(({ to }) => to === null)) return [];
  const config = configOf(place, io);
  if (!hasStore(config)) {
    io.tell(`Whom rules ask was not looked up: there is no store in ${config.dataDir}.`);
    return [];
  }
  return withDatabase(config, async (db) => ruleNotes({ db, addressed: await openGroups({ db }, config) }, policy));
}

/** A file that cannot be read or holds a mistake means that one could not look. */
export async function lookAt(io: Io, work: () => number | Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    for (const line of error.message.split("\n")) io.tell(`parley: ${printable(line)}`);
    return EXIT.usage;
  }
}

function warn(policy: Policy, io: Io): void {
  for (const { says } of [...lintPolicy(policy), ...lintDoubts(policy)]) io.tell(`${policy.name}: ${printable(says)}`);
}

const LIMITS = { maxBytes: 256 * 1024, maxAliases: 100 };
const text = z.string().optional();
const Cases = z.strictObject({
  cases: z.array(
    z.strictObject({
      name: z.string(),
      input: z.strictObject({
        action: text,
        resource: text,
        env: text,
        tool: text,
        repo: text,
        agent: text,
        role: text,
        job: text,
        fn: text,
        ask_type: z.enum(ASK_TYPES).optional(),
        args: z.record(z.string(), z.unknown()).optional(),
        meta: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
      }),
      decision: z.enum(["ALLOW", "DENY", "ESCALATE"]),
      /** The id of the rule that shall decide, or its place, `rules[0]`; "default" for none. */
      rule: z.string().optional(),
      /** The risk that rules shall give it; null for none. */
      risk: z.enum(RULED_RISKS).nullable().optional(),
    }),
  ),
});

function runCases(policy: Policy, file: string, io: Io): number {
  let failed = 0;
  for (const { name, input, decision, rule, risk } of readCases(file).cases) {
    const { args, ...words } = input;
    const call = { ...words, ...(args && { args: () => JSON.stringify(args) }) };
    const policyDecision = evaluate(policy, [], policyInput(call));
    const by = decidedBy(policy, policyDecision);
    const ruledRisk = policyDecision.risk?.kind ?? null;
    const isRisk = risk === undefined || risk === ruledRisk;
    const isAsExpected = policyDecision.decision === decision && (rule === undefined || rule === by) && isRisk;
    if (!isAsExpected) {
      failed += 1;
      tellObserved(policyDecision, io);
    }
    const withRisk = (of: typeof ruledRisk | undefined) =>
      of === undefined || isRisk ? "" : `, risk ${of ?? "not ruled"}`;
    const wanted = `${rule === undefined ? decision : `${decision} by ${rule}`}${withRisk(risk)}`;
    io.out(
      printable(
        isAsExpected
          ? `ok      ${name}`
          : `FAILED  ${name}: ${policyDecision.decision} by ${by}${withRisk(ruledRisk)}, not ${wanted}`,
      ),
    );
  }
  return failed > 0 ? EXIT.refused : EXIT.done;
}

function tellObserved({ observed }: PolicyDecision, io: Io): void {
  for (const rule of observed?.rules ?? [])
    io.tell(printable(`${nameOf(rule)} is only observed: it would ${rule.decision} this.`));
}

function decidedBy(policy: Policy, { trace }: PolicyDecision): string {
  const rule = trace.rule_index === undefined ? undefined : policy.rules[trace.rule_index];
  return rule ? nameOf(rule) : "default";
}

function readCases(file: string): z.output<typeof Cases> {
  const name = basename(file);
  try {
    const yaml = readYaml(readText(file), LIMITS);
    const read = Cases.safeParse(yaml.value);
    if (read.success) return read.data;
    const sentences = read.error.issues.map(({ path, message }) => {
      const place = path.filter((part) => typeof part !== "symbol");
      return `${name}:${yaml.lineOf(place)}: ${place.length > 0 ? pathText(place) : "the file"}: ${message}.`;
    });
    throw new UnreadableFile(sentences.join("\n"));
  } catch (error) {
    if (!(error instanceof BadYaml)) throw error;
    throw new UnreadableFile(`${name}:${error.line}: ${error.message}.`);
  }
}
