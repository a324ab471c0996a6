import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PolicyMistake } from "../../src/policy/model/check.ts";
import { FIRST_POLICY, loadPolicy } from "../../src/policy/model/text.ts";
import { STARTER_RULES, starterRulesIn } from "../../src/policy/starter-rules.ts";

const AT = FIRST_POLICY.indexOf("  # - id: agents-look-and-test");
const [HEAD, COMMENT] = [FIRST_POLICY.slice(0, AT), FIRST_POLICY.slice(AT)];

const MINE = `  - id: mine
    when: { fn: send_mail, expr: 'size(args.to) == 1' }
    decision: ALLOW
    # - my comment
`;

async function kindOf(text: string): Promise<string> {
  return (await starterRulesIn(text)).kind;
}

describe("the rules for coding agents in a policy file", () => {
  for (const [where, before, after] of [
    ["the first policy", HEAD, ""],
    ["one with rules around them", HEAD + MINE, "\n# the end"],
    ["one with rules behind them", HEAD, MINE],
    ["one without other rules", "version: 1\nrules:\n", ""],
  ] as const) {
    it(`come into force in ${where}, by the signs of their comment alone`, async () => {
      const text = before + COMMENT + after;
      const state = await starterRulesIn(text);
      if (state.kind !== "comment") assert.fail(state.kind);
      assert.equal(state.after, before + STARTER_RULES + after);
      assert.equal(state.after.replace(STARTER_RULES, COMMENT), text);
      const { rules } = await loadPolicy(state.after);
      assert.deepEqual(
        rules.flatMap(({ id, isObserved }) => (id?.startsWith("agents-") && !isObserved ? [id] : [])),
        ["agents-look-and-test", "agents-read", "agents-read-github"],
      );
      assert.equal(state.count, 3);
      assert.equal(await kindOf(state.after), "in force");
    });
  }

  for (const [how, text] of Object.entries({
    "with a pattern more": HEAD + COMMENT.replace("pwd,", "pwd, make *,"),
    "cut short": HEAD + COMMENT.slice(0, -30),
    twice: HEAD + COMMENT + COMMENT,
    "with other line ends": FIRST_POLICY.replaceAll("\n", "\r\n"),
    "deeper than the rules": HEAD + COMMENT.replaceAll(/^/gm, "  "),
    "within another rule": `${HEAD}  - id: one\n    when: { action: x }\n    decision: DENY\n${COMMENT}    reason: Not here\n`,
    "outside the rules": `version: 1\nrules:\n${MINE}says:\n${COMMENT}  send_mail: "Send {subject}"\n`,
    gone: HEAD,
  })) {
    it(`stay as they are where they stand ${how}`, async () => assert.equal(await kindOf(text), "changed"));
  }

  it("are in force where one of them is", async () => {
    assert.equal(await kindOf(HEAD + STARTER_RULES), "in force");
    const one = '  - { id: agents-read, when: { fn: Read, path: "src/**" }, decision: ALLOW }\n';
    assert.equal(await kindOf(HEAD + one + COMMENT), "in force");
  });

  it("are not looked for in a file with a mistake", async () => {
    await assert.rejects(starterRulesIn(`${FIRST_POLICY}nonsense: 1\n`), PolicyMistake);
  });
});
