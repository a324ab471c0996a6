import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import { idMaker } from "../../src/lib/id.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { policyInput } from "../../src/policy/model/policy.ts";
import { FIRST_POLICY, parsePolicy } from "../../src/policy/model/text.ts";
import type { PolicyTrace } from "../../src/policy/model/trace.ts";
import { openStore } from "../../src/core/store/open-store.ts";
import { transact } from "../../src/core/store/transact.ts";
import { storeGrant } from "../../src/policy/grants.ts";
import { noteApproved } from "../../src/policy/proposals.ts";
import { prepareFirstStart } from "../../src/server/prepare-first-start.ts";
import { OPERATOR } from "../support/identities.ts";
import { newFolder, parley, ROOT } from "../support/program.ts";

let files = 0;
function fileOf(text: string): string {
  const path = join(ROOT, `policy-${(files += 1)}.yaml`);
  writeFileSync(path, text);
  return path;
}
const nameIn = (path: string) => path.slice(ROOT.length + 1);

/** An installation with the first policy, something allowed for good, and a proposal. */
async function installation() {
  const dataDir = newFolder();
  const store = await openStore(
    { dataDir, keyFile: join(dataDir, "installation.key"), databaseUrl: undefined, databaseWaitMs: 60_000 },
    {
      clock: systemClock,
      random: systemRandom,
      log: console,
      exclusive: true,
      onFatal: (error) => assert.fail(error),
    },
  );
  const ctx = { ...store, random: systemRandom, newId: idMaker(systemRandom, () => Date.now()) };
  await prepareFirstStart(ctx);
  const input = policyInput({ action: "deploy", resource: "shop-api", agent: "ana-bot" });
  const grant = await transact(ctx, (tx) =>
    storeGrant(ctx, tx, { input, approvalId: "ask_1", person: OPERATOR, forMs: 30 * 86_400_000 }),
  );
  const policy = parsePolicy(FIRST_POLICY);
  const often = policyInput({ ask_type: "APPROVAL", action: "open_pr", resource: "shop-api", agent: "ana-bot" });
  for (const approvalId of ["ask_2", "ask_3"]) {
    await transact(ctx, (tx) => noteApproved(ctx, tx, { policy, input: often, approvalId, learnAfter: 2 }));
  }
  await store.close();
  writeFileSync(join(dataDir, "policy.yaml"), FIRST_POLICY);
  return {
    grant,
    path: join(dataDir, "policy.yaml"),
    run: (...args: string[]) => parley(["policy", ...args], { PARLEY_DATA_DIR: dataDir }),
  };
}

describe("parley policy test", () => {
  it("prints the trace of what would be decided", async () => {
    const file = fileOf(FIRST_POLICY);
    const { code, out, err } = await parley(["policy", "test", file, "--action", "Write", "--env", "PROD"]);
    assert.deepEqual([code, err], [0, ""]);
    assert.deepEqual(JSON.parse(out), {
      policy: "prod-writes@v1",
      policy_version: parsePolicy(FIRST_POLICY).policyVersion,
      decision: "DENY",
      reason: "Production data is changed by releases only",
      rule_index: 0,
      matched: [0],
      defaulted: false,
      input: { action: "write", resource: "", env: "prod" },
      grant: null,
    });
    const typed = await parley(["policy", "test", file, "--type", "choice", "--meta", "ticket=7"]);
    assert.equal((JSON.parse(typed.out) as { input: { action: string } }).input.action, "choose");
  });

  it("checks written cases, one line each, and says by its exit code whether all hold", async () => {
    const file = fileOf(FIRST_POLICY);
    const good = fileOf(`cases:
  - name: nobody writes in prod
    input: { action: write, env: prod }
    decision: DENY
    rule: prod-writes
  - name: reading is free
    input: { ask_type: RESOURCE_FETCH, env: prod, meta: { ticket: 7 } }
    decision: ALLOW
    rule: default
`);
    const passed = await parley(["policy", "test", file, "--cases", good]);
    assert.deepEqual(passed, {
      code: 0,
      out: "ok      nobody writes in prod\nok      reading is free\n",
      err: "",
    });
    const bad = fileOf(`cases: [{ name: deploys are free, input: { action: deploy }, decision: ALLOW }]`);
    const failed = await parley(["policy", "test", file, "--cases", bad]);
    assert.deepEqual([failed.code, failed.out], [1, "FAILED  deploys are free: ESCALATE by default, not ALLOW\n"]);
  });

  it("says and checks the risk that rules give a function call", async () => {
    const file = fileOf("version: 1\nrules: [{ id: pay, when: { fn: pay }, decision: ESCALATE, risk: high }]\n");
    const { out } = await parley(["policy", "test", file, "--fn", "pay"]);
    assert.equal((JSON.parse(out) as { risk?: string }).risk, "high");
    const cases = fileOf(
      `cases:
  - { name: pays, input: { fn: pay }, decision: ESCALATE, risk: high }
  - { name: looks, input: { fn: look }, decision: ESCALATE, risk: null }
  - { name: is calm, input: { fn: pay }, decision: ESCALATE, risk: low }\n`,
    );
    const tested = await parley(["policy", "test", file, "--cases", cases]);
    assert.equal(tested.code, 1);
    assert.match(tested.out, /ok {6}pays\nok {6}looks\nFAILED {2}is calm: .*risk high, not ESCALATE, risk low\n/);
    const explained = await parley(["policy", "explain", file, "--fn", "pay"]);
    assert.match(explained.out, /Risk: high, says pay\./);
  });

  it("ends with 2 for a file it cannot use, and warns of rules that can never win", async () => {
    const broken = fileOf("version: 1\nrules: [{ when: { enviroment: prod }, decision: DENY }]\n");
    const refused = await parley(["policy", "test", broken, "--action", "write"]);
    assert.deepEqual([refused.code, refused.out], [2, ""]);
    assert.match(
      refused.err,
      new RegExp(`^parley: ${nameIn(broken)}:2: rules\\[0\\]\\.when has no "enviroment"; it knows`),
    );
    const missing = await parley(["policy", "test", join(ROOT, "no.yaml"), "--action", "write"]);
    assert.deepEqual(
      [missing.code, missing.err],
      [2, `parley: ${join(ROOT, "no.yaml")} cannot be read: it does not exist.\n`],
    );

    const file = fileOf(FIRST_POLICY);
    const cases = fileOf("cases:\n  - name: x\n    input: { acton: x }\n    decision: DENY\n");
    const miswritten = await parley(["policy", "test", file, "--cases", cases]);
    assert.equal(miswritten.code, 2);
    assert.match(miswritten.err, new RegExp(`^parley: ${nameIn(cases)}:3: cases\\[0\\]\\.input: .*acton`));
    assert.equal((await parley(["policy", "test", file])).code, 2);
    assert.equal((await parley(["policy", "test", file, "--action", "x", "--cases", cases])).code, 2);
    assert.equal((await parley(["policy", "test", file, "--type", "x"])).code, 2);
    assert.equal((await parley(["policy", "test", file, "--meta", "x"])).code, 2);

    const idle = fileOf(`version: 1
rules:
  - { id: narrow, when: { action: write, env: dev }, decision: ALLOW }
  - { id: wide, when: { action: "w*" }, decision: DENY }
`);
    const says = "narrow can never win: wherever it holds, wide says DENY";
    const warned = await parley(["policy", "test", idle, "--action", "write"]);
    assert.deepEqual([warned.code, warned.err], [0, `${nameIn(idle)}: ${says}\n`]);
    const linted = await parley(["policy", "lint", idle]);
    assert.deepEqual([linted.code, linted.out], [1, `${says}\n`]);
    const open = fileOf("version: 1\nrules: [{ id: a, when: { meta.b: main }, decision: DENY }]\n");
    const warning = "a denies by meta.b, which an asker may leave out: add null to its values to deny that too";
    const doubted = await parley(["policy", "lint", open]);
    assert.deepEqual([doubted.code, doubted.out], [0, `warning: ${warning}\n`]);
    const clean = await parley(["policy", "lint", file]);
    assert.deepEqual([clean.code, clean.out], [0, ""]);
    assert.match(clean.err, /: 1 rule, version 1:[0-9a-f]{12}\n$/);
    assert.equal((await parley(["policy", "lint", broken])).code, 2);
  });
});

describe("parley policy explain", () => {
  it("says in words what would be decided, and what every rule has to say", async () => {
    const file = fileOf(`version: 1
rules:
  - id: prod-deploys
    when: { env: prod, action: deploy }
    unless: { resource: "docs*" }
    decision: ESCALATE
    to: release-team
    need: 2
    standing: false
  - { when: { action: [write, wipe], repo: null }, decision: DENY, reason: Nobody does }
  - { id: pings, when: { fn: "p*", agent: [ana-bot, bo-bot] }, decision: ALLOW }
`);
    const explain = async (...args: string[]) => (await parley(["policy", "explain", file, ...args])).out.split("\n");
    assert.deepEqual(await explain("--action", "deploy", "--env", "prod"), [
      'Asked about: action "deploy", resource "", env "prod".',
      "",
      "ESCALATE: prod-deploys says ESCALATE.",
      "Asked: release-team; 2 of them must approve.",
      "Nobody can allow it for good.",
      "",
      "  prod-deploys (ESCALATE) matches",
      '  rules[1] (DENY) does not match: action is "deploy", not "write" or "wipe"',
      '  pings (ALLOW) does not match: fn is missing, not "p*"',
      "",
    ]);
    assert.deepEqual(await explain("--action", "deploy", "--env", "prod", "--resource", "docs/a", "--repo", "r"), [
      'Asked about: action "deploy", resource "docs/a", env "prod", repo "r".',
      "",
      "ESCALATE: no rule of " + nameIn(file) + " speaks of it.",
      'What counts is the default for "other".',
      "Asked: whoever is asked by default; one of them decides.",
      "",
      '  prod-deploys (ESCALATE) makes an exception: resource is "docs*"',
      '  rules[1] (DENY) does not match: action is "deploy", not "write" or "wipe"',
      '  pings (ALLOW) does not match: fn is missing, not "p*"',
      "",
    ]);
    assert.deepEqual(await explain("--fn", "ping", "--agent", "ana-bot"), [
      'Asked about: agent "ana-bot", fn "ping".',
      "",
      "ALLOW: pings says ALLOW.",
      "",
      "  prod-deploys (ESCALATE) is about what executors ask: it names no fn",
      "  rules[1] (DENY) is about what executors ask: it names no fn",
      "  pings (ALLOW) matches",
      "",
    ]);
    assert.deepEqual((await explain("--fn", "deploy")).slice(0, 4), [
      'Asked about: fn "deploy".',
      "",
      `ESCALATE: no rule of ${nameIn(file)} speaks of it.`,
      "Asked: whomever the call names; no default decides a function call.",
    ]);
    const traced = await parley(["policy", "test", file, "--fn", "ping", "--agent", "bo-bot"]);
    const { decision, policy, input } = JSON.parse(traced.out) as PolicyTrace;
    assert.deepEqual([decision, policy, input], ["ALLOW", "pings@v1", { fn: "ping", agent: "bo-bot" }]);
    for (const wrong of [
      ["--fn", "ping", "--env", "prod"],
      ["--digest", "sha256:aa"],
    ])
      assert.equal((await parley(["policy", "test", file, ...wrong])).code, 2);
    assert.equal((await parley(["policy", "explain", file])).code, 2);
  });

  it("says of a rule in mode observe, as the other commands do, that it is only observed", async () => {
    const file = fileOf(`version: 1
rules: [{ id: drafts, when: { action: write }, decision: ALLOW, mode: observe }]
`);
    const write = ["--action", "write"];
    const tested = await parley(["policy", "test", file, ...write]);
    assert.deepEqual([tested.code, tested.err], [0, "drafts is only observed: it would ALLOW this.\n"]);
    const { decision, observed } = JSON.parse(tested.out) as PolicyTrace;
    assert.deepEqual([decision, observed], ["ESCALATE", ["drafts"]]);
    const cases = fileOf(
      "cases: [{ name: drafts are free, input: { action: write }, decision: ALLOW, rule: drafts }]\n",
    );
    const failed = await parley(["policy", "test", file, "--cases", cases]);
    assert.deepEqual([failed.code, failed.err], [1, tested.err]);
    const explained = await parley(["policy", "explain", file, ...write]);
    assert.match(explained.out, /^ {2}drafts \(only observed: would ALLOW\) matches$/m);
    const linted = await parley(["policy", "lint", file]);
    assert.deepEqual([linted.code, linted.out], [0, "note: drafts is only observed: it would ALLOW\n"]);
    const { run, path } = await installation();
    writeFileSync(path, readFileSync(file));
    assert.match((await run("show")).out, /^drafts +would ALLOW +observed 0 +action is "write"$/m);
    assert.match((await run("replay")).out, /^drafts +0, only observed: would change 0$/m);
  });
});

describe("parley policy, on an installation", () => {
  it("shows rules, what is allowed for good and what is proposed, and changes them", async () => {
    const { run, grant, path } = await installation();
    const shown = await run("show");
    assert.equal(shown.code, 0);
    assert.match(shown.out, /^prod-writes +DENY +0 +env is "prod", action is "write" or "apply_diff"$/m);
    assert.match(shown.out, /^default other +ESCALATE/m);
    assert.match(
      shown.out,
      new RegExp(`^${grant.id} +1 +0 +.+ +action "deploy", resource "shop-api", env "dev", agent "ana-bot"$`, "m"),
    );
    const proposal =
      /^(proposal_\w+) proposes, after 2 approvals of the same:$/m.exec(shown.out)?.[1] ?? assert.fail(shown.out);
    assert.match(shown.out, /^\+ {4}when: \{ action: open_pr, resource: shop-api, env: dev, .* \}$/m);
    const wire = JSON.parse((await run("show", "--json")).out) as Record<string, unknown[]>;
    assert.deepEqual([wire["rules"]?.length, wire["grants"]?.length, wire["proposals"]?.length], [1, 1, 1]);

    const asAna = ["--action", "deploy", "--resource", "shop-api", "--agent", "ana-bot"];
    assert.match(
      (await run("explain", ...asAna)).out,
      new RegExp(`^ALLOW: somebody allowed it \\(${grant.id}\\)\\.$`, "m"),
    );
    assert.equal((await run("revoke", grant.id)).err, `${grant.id} allows nothing any more.\n`);
    assert.match((await run("explain", ...asAna)).out, /^ESCALATE: no rule/m);
    const unknown = await run("revoke", "grant_x");
    assert.deepEqual(
      [unknown.code, unknown.err],
      [1, "parley: There is no such permanent permission, proposal or learned rule.\n"],
    );

    const accepted = await run("accept", proposal);
    assert.equal(accepted.code, 0);
    const rule = accepted.out.trim();
    assert.match(rule, /^learned-[0-9a-f]{8}$/);
    assert.equal(readFileSync(path, "utf8"), FIRST_POLICY);
    assert.match((await run("show")).out, new RegExp(`^${rule} +ALLOW +0 +action is "open_pr"`, "m"));
    const pr = ["--action", "open_pr", "--resource", "shop-api", "--agent", "ana-bot"];
    assert.match((await run("explain", ...pr)).out, /^ALLOW: People approved this 2 times/m);
    assert.equal((await run("dismiss", proposal)).code, 1);
    assert.equal((await run("revoke", rule)).code, 0);
    assert.match((await run("explain", ...pr)).out, /^ESCALATE: no rule/m);
    assert.deepEqual(await run("revoke", rule), { ...unknown, out: "" });
  });

  it("has every server read the file again, unless it holds a mistake", async () => {
    const { run, path } = await installation();
    const reloaded = await run("reload");
    assert.equal(reloaded.code, 0);
    assert.match(reloaded.err, /^1:[0-9a-f]{12} is read again by every server within a second\.\n$/);
    writeFileSync(path, "version: [\n");
    for (const command of [["reload"], ["show"], ["explain", "--action", "x"]]) {
      const { code, err } = await run(...command);
      assert.equal(code, 2);
      assert.match(err, /^parley: policy\.yaml:\d+: this is not valid YAML/);
    }
  });

  it("is tried on recorded calls, of which a new installation has none", async () => {
    const { run } = await installation();
    const { code, out } = await run("replay", "--since", "24h");
    assert.deepEqual([code, out.split("\n")[0]], [0, "0 calls of the last 1d: 0 allowed, 0 refused, 0 asked"]);
    assert.match(out, /^prod-writes +0$/m);
    const { calls, contradictions } = JSON.parse((await run("replay", "--json")).out);
    assert.deepEqual([calls, contradictions], [0, []]);
    assert.equal((await run("replay", "--since", "2y")).code, 2);
  });

  it("is described command by command", async () => {
    const { code, out } = await parley(["policy", "--help"]);
    assert.equal(code, 0);
    for (const name of ["test", "lint", "explain", "replay", "show", "accept", "dismiss", "reload", "revoke"])
      assert.match(out, new RegExp(`^  parley policy ${name} +\\S`, "m"));
  });
});
