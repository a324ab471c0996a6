import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asciiJson } from "../../src/lib/yaml-text.ts";
import { suggestedLines } from "../../src/policy/model/suggested-text.ts";
import { FIRST_POLICY, loadPolicy } from "../../src/policy/model/text.ts";
import { withRules } from "../../web/src/console/rules-added.ts";

const RULES = ["suggested-a", "suggested-b"].map((id) => {
  const when = { fn: "Bash", agent: "claude", args: { "/note": { equals: "$& $1 é\u202e: #" } } };
  const lines = suggestedLines([{ id, when, approved: 3, examples: ["Run `npm test`"], notCovered: ["[x]: #"] }]);
  return { lines, flow: asciiJson({ id, when, decision: "ALLOW" }) };
});

const FILES: Readonly<Record<string, string>> = {
  "the first one": FIRST_POLICY,
  "without the key": "version: 1\ndefaults: { other: DENY }",
  "with no rules": "version: 1\nrules: # none yet\n",
  "with an empty list": "version: 1\nrules: [ ] # none yet\ndefaults: { other: DENY }\n",
  "with a list in brackets": "version: 1\nrules: [{ id: own, when: { fn: a }, decision: DENY }]\n",
  "with brackets on lines": "version: 1\nrules: [ # own\n  { id: own, when: { fn: a }, decision: DENY },\n]\n",
  "with a list that is not indented": "rules:\n# own\n- id: own\n  when: { fn: a }\n  decision: DENY\nversion: 1\n",
  "with a list that is indented by four":
    "rules:\n    -\n      id: own\n      when: { fn: a }\n      decision: DENY\nversion: 1\n",
  "with line ends of Windows": "version: 1\r\nrules:\r\n  - { id: own, when: { fn: a }, decision: DENY }\r\n",
  "with null": "version: 1\nrules: null # none yet\n",
  "with an anchor": "version: 1\nrules: &all [{ id: own, when: { fn: a }, decision: DENY }]\n",
  "with brackets below the key":
    "version: 1\nrules: # a [list]\n  # own\n  [\n    { id: own, when: { fn: a }, decision: DENY },\n  ]\n",
  "with the key in quotes": "version: 1\n'rules' :\n  - { id: own, when: { fn: a }, decision: DENY }\n",
  "with a mark of the order of bytes": "\ufeffrules:\n  - { id: own, when: { fn: a }, decision: DENY }\nversion: 1\n",
  "with a line separator in a comment":
    "# a\u2028rules: x\nversion: 1\nrules:\n  - { id: own, when: { fn: a }, decision: DENY }\n",
  "without the key, and with the end of its document": "---\nversion: 1\ndefaults: { other: DENY }\n...\n# last\n",
};

describe("the policy file with proposed rules, as the console puts it together", () => {
  for (const [name, file] of Object.entries(FILES)) {
    it(`has them and all that it had: a file ${name}`, async () => {
      const before = await loadPolicy(file);
      const after = await loadPolicy(withRules(file, RULES));
      const own = before.rules.map(({ id }) => id);
      assert.deepEqual(
        after.rules.map(({ id }) => id),
        ["suggested-a", "suggested-b", ...own],
      );
      assert.deepEqual(after.defaults, before.defaults);
      assert.deepEqual(
        after.rules.slice(0, 2).map(({ decision }) => decision),
        ["ALLOW", "ALLOW"],
      );
    });
  }
});
