import assert from "node:assert/strict";
import type { ListFile } from "../../src/policy/imports/agent-list.ts";
import { LISTED_AGENTS } from "../../src/policy/imports/agents.ts";
import { policyText } from "../../src/policy/imports/policy-text.ts";
import { evaluate, type Policy, policyInput } from "../../src/policy/model/policy.ts";
import { loadPolicy } from "../../src/policy/model/text.ts";

export const HOME = "/home/kim";
/** The folder that calls name, unless they name another one. */
export const PROJECT = "/home/kim/shop";

/** The policy of an agent's lists. */
export interface Imported {
  policy: Policy;
  text: string;
  /** Returns the decision about a call, or "people" where no rule decides. */
  decide(fn: string, args: object): string;
}

/** Returns the policy of these files of lists. */
export async function imported(
  word: string,
  ...files: readonly (readonly [path: string, text: unknown])[]
): Promise<Imported> {
  const row = LISTED_AGENTS[word] ?? assert.fail();
  const lists = await row.load();
  const read = files.map(([path, text]): ListFile => ({
    path,
    text: typeof text === "string" ? text : JSON.stringify(text),
    project: lists.projectOf(path, HOME),
  }));
  const agent = { word, title: row.title };
  const entries = lists.read(read, HOME);
  const text = policyText(entries, { agent, askers: [row.agentId], files: read.map(({ path }) => path) });
  const policy = await loadPolicy(text);
  return {
    policy,
    text,
    decide(fn, args) {
      const shown = { cwd: PROJECT, ...args };
      const input = policyInput({ fn, agent: row.agentId, args: () => JSON.stringify(shown) });
      const { decision, trace } = evaluate(policy, [], input);
      return trace.defaulted ? "people" : decision;
    },
  };
}

/** Checks the decision about each command, by the decision that it shall have. */
export function commandsAre(
  decide: (command: string) => string,
  expected: Readonly<Record<string, readonly string[]>>,
): void {
  const all = Object.entries(expected).flatMap(([decision, commands]) =>
    commands.map((command) => [command, decision]),
  );
  assert.deepEqual(
    all.map(([command = ""]) => [command, decide(command)]),
    all,
  );
}
