import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ESLint, Linter, type Rule } from "eslint";
import regexp from "eslint-plugin-regexp";

const ROOT = new URL("../..", import.meta.url).pathname;
const RULES = ["regexp/no-super-linear-move", "regexp/no-super-linear-backtracking"] as const;

/** Returns whether the rules that hold for a file of the server refuse a pattern. */
async function isRefused(pattern: string): Promise<boolean> {
  const { rules } = (await new ESLint({ cwd: ROOT }).calculateConfigForFile("src/main.ts")) as {
    rules: Linter.RulesRecord;
  };
  const found = new Linter().verify(`text.replace(${pattern}, "");`, [
    {
      plugins: { regexp: regexp as unknown as { rules: Record<string, Rule.RuleModule> } },
      rules: Object.fromEntries(RULES.map((name) => [name, rules[name] ?? "off"])),
    },
  ]);
  return found.some(({ ruleId }) => RULES.some((name) => name === ruleId));
}

describe("patterns that lint takes", () => {
  for (const folder of ["src/lib", "src/channels/email", "sdk/src", "adapters/src", "web/src"]) {
    it(`take time in proportion to the text in ${folder}`, async () => {
      const { rules } = (await new ESLint({ cwd: ROOT }).calculateConfigForFile(`${folder}/any.ts`)) as {
        rules: Record<string, [number, ...unknown[]]>;
      };
      for (const name of RULES) assert.equal(rules[name]?.[0], 2, name);
    });
  }

  for (const pattern of ["/ +$/", "/\\s*$/", "/x{3,}$/", "/[^\\n]+$/gm", "/\\s+x/", "/(a+)+$/", "/^\\s*(no)?\\s*$/"]) {
    it(`are not ${pattern}`, async () => assert.equal(await isRefused(pattern), true));
  }

  for (const pattern of ["/(?<! ) +$/", "/^\\d+$/", "/^\\s*(?:no\\s*)?$/", "/\\n$/"]) {
    it(`may be ${pattern}`, async () => assert.equal(await isRefused(pattern), false));
  }
});
