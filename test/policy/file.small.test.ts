import assert from "node:assert/strict";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { evaluate, policyInput } from "../../src/policy/model/policy.ts";
import { FIRST_POLICY } from "../../src/policy/model/text.ts";
import { openPolicyFile, type PolicyChange } from "../../src/responders/policy/policy-file.ts";
import { heldClock } from "../support/held-clock.ts";

const ROOT = mkdtempSync(join(tmpdir(), "parley-policy-"));
after(() => rmSync(ROOT, { recursive: true }));
let files = 0;
const newPath = () => join(ROOT, `folder-${(files += 1)}`, "policy.yaml");
const STILL = new AbortController().signal;

async function open(path: string) {
  const changes: PolicyChange[] = [];
  const lines: string[] = [];
  const say = (_details: object, message: string) => void lines.push(message);
  const clock = heldClock();
  const log = { info: say, error: say } as Parameters<typeof openPolicyFile>[0]["log"];
  const file = await openPolicyFile({ path, log, clock, onChange: (change) => void changes.push(change) });
  /** Writes as an editor would, a while after the last time. */
  const write = (text: string) => {
    const before = statSync(path).mtimeMs;
    writeFileSync(path, text);
    utimesSync(path, new Date(), new Date(before + 1000));
  };
  const decide = (action: string) => evaluate(file.current().policy, [], policyInput({ action })).decision;
  return { file, changes, lines, write, decide };
}

describe("the policy file of a server", () => {
  it("is written with comments at the first start, and never over one that is there", async () => {
    const path = newPath();
    const { file, changes } = await open(path);
    assert.equal(readFileSync(path, "utf8"), FIRST_POLICY);
    assert.equal(file.state(), "ok");
    assert.equal(changes.length, 1);
    writeFileSync(path, "version: 7\n");
    const again = await open(path);
    assert.equal(again.file.current().policy.policyVersion.split(":")[0], "7");
    assert.equal(readFileSync(path, "utf8"), "version: 7\n");
  });

  it("is read again when it has changed, and not before", async () => {
    const { file, changes, write } = await open(newPath());
    const first = file.current();
    await file.step(STILL);
    assert.equal(file.current(), first);
    write("version: 2\ndefaults: { other: DENY }\n");
    assert.equal(await file.step(STILL), false);
    assert.match(file.current().policy.policyVersion, /^2:/);
    assert.equal(changes.length, 2);
    write("version: 2\ndefaults: { other: DENY } # the same\n");
    await file.step(STILL);
    assert.equal(changes.length, 2, "another comment is no other policy");
  });

  it("that holds a mistake leaves the last good version in force, and says so until it is mended", async () => {
    const { file, changes, lines, write, decide } = await open(newPath());
    write("version: 2\ndefaults: { other: DENY }\n");
    await file.step(STILL);
    const good = file.current();
    for (const broken of ["version: 3\ndefaults: { other: ALLOW }\n", "version: [", ""]) {
      write(broken);
      await file.step(STILL);
      assert.deepEqual([file.state(), file.current()], ["stale", good], broken);
      assert.match(file.problem() ?? "", /^policy\.yaml:\d+: /);
      assert.equal(decide("deploy"), "DENY");
    }
    assert.equal(changes.at(-1)?.policyVersion, good.policy.policyVersion);
    assert.equal(changes.at(-1)?.state, "stale");
    assert.ok(lines.includes("the policy file is not in force: the policy before stays in force"));
    const told = changes.length;
    await file.step(STILL);
    await file.reload();
    assert.equal(changes.length, told, "one mistake is told once");

    write("version: 4\n");
    await file.step(STILL);
    assert.deepEqual([file.state(), file.problem()], ["ok", null]);
    assert.match(changes.at(-1)?.policyVersion ?? "", /^4:/);
  });

  it("that is taken away leaves what was read in force", async () => {
    const path = newPath();
    const { file, decide } = await open(path);
    writeFileSync(path, "version: 2\ndefaults: { other: DENY }\n");
    await file.reload();
    rmSync(path);
    await file.step(STILL);
    assert.deepEqual([file.state(), decide("deploy")], ["missing", "DENY"]);
    writeFileSync(path, "version: 3\n");
    await file.step(STILL);
    assert.deepEqual([file.state(), decide("deploy")], ["ok", "ESCALATE"]);
  });

  it("that could never be read puts everything to people, and lets them allow nothing for good", async () => {
    const path = newPath();
    await open(path);
    writeFileSync(path, "version: nonsense\n");
    const { file, decide } = await open(path);
    assert.equal(file.state(), "stale");
    for (const action of ["read", "write", "clarify"]) assert.equal(decide(action), "ESCALATE");
    const grant = { action: "write", resource: "", env: "dev", tool: null, repo: null, agent: null, id: "grant_1" };
    const policyDecision = evaluate(file.current().policy, [grant], policyInput({ action: "write" }));
    assert.deepEqual([policyDecision.decision, policyDecision.isGrantable], ["ESCALATE", false]);
  });

  it("is replaced whole by an edit, keeps its permissions, and stays a link where it is one", async () => {
    const path = newPath();
    await open(path);
    const link = join(ROOT, "link.yaml");
    symlinkSync(path, link);
    chmodSync(path, 0o640);
    const { file } = await open(link);
    await Promise.all(["one", "two", "three"].map((word) => file.edit((text) => `${text}# ${word}\n`)));
    assert.equal(readFileSync(path, "utf8"), `${FIRST_POLICY}# one\n# two\n# three\n`);
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.equal(statSync(path).mode & 0o777, 0o640);
    await file.edit((text) => text.replace("version: 1", "version: 2"));
    assert.match(file.current().policy.policyVersion, /^2:/, "it is in force at once");
    const before = readFileSync(path, "utf8");
    await assert.rejects(
      file.edit(() => assert.fail("changed my mind")),
      /changed my mind/,
    );
    assert.equal(readFileSync(path, "utf8"), before);
  });
});
