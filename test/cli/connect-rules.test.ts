import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Io } from "../../src/cli/command.ts";
import { connect } from "../../src/cli/connect/connect.ts";
import { testPrompt } from "../../src/cli/connect/test-prompt.ts";
import { noteServerProcess } from "../../src/cli/server-process.ts";
import { AGENTS } from "../../src/connect/registry.ts";
import { evaluate, policyInput } from "../../src/policy/model/policy.ts";
import { FIRST_POLICY, loadPolicy } from "../../src/policy/model/text.ts";
import { STARTER_RULES, starterRulesIn } from "../../src/policy/starter-rules.ts";
import { starttimeOf } from "../../src/workshop/sandbox/processes.ts";
import { newFolder } from "../support/program.ts";

const URL_HERE = "http://127.0.0.1:4999";
const OWN = `# Ours: \t keep\n${FIRST_POLICY}  - { id: mine, when: { fn: send_mail }, decision: DENY }\n`;

interface Surroundings {
  /** The text of the policy file; null for no file. */
  policy?: string | null;
  env?: Record<string, string>;
  /** A server runs on the data folder. */
  runs?: boolean;
}

interface Site {
  policyFile: string;
  /** Connects an agent; the answers are typed at a terminal, without them nobody sits at one. */
  connect(flags: readonly string[], answers?: readonly string[]): Promise<{ code: number; said: string }>;
}

/** Returns a home whose data folder a running process, this one, calls its own. */
function openSite({ policy = OWN, env = {}, runs = true }: Surroundings = {}): Site {
  const home = newFolder();
  const dataDir = join(home, ".local/share/parley");
  mkdirSync(dataDir, { recursive: true });
  const policyFile = join(dataDir, "policy.yaml");
  if (policy !== null) writeFileSync(policyFile, policy, { mode: 0o640 });
  const { pid } = process;
  if (runs) noteServerProcess(dataDir, { pid, starttime: starttimeOf(pid), url: URL_HERE });
  return {
    policyFile,
    async connect(flags, answers) {
      const lines: string[] = [];
      const left = [...(answers ?? [])];
      const io: Io = {
        env: { HOME: home, ...env },
        out: (line) => void lines.push(line),
        tell: (line) => void lines.push(line),
        progress: () => undefined,
        ...(answers && {
          prompt: (question: string) => {
            lines.push(question);
            return Promise.resolve(left.shift() ?? null);
          },
        }),
        interrupted: new AbortController().signal,
      };
      const code = await connect.run(["cursor", "--no-test", ...flags], io);
      return { code, said: lines.join("\n") };
    },
  };
}

const read = ({ policyFile }: Site) => readFileSync(policyFile, "utf8");
const BLOCK = STARTER_RULES.trimEnd();

describe("parley connect, where the server's policy file has the rules for coding agents as a comment", () => {
  it("asks once, and takes the signs off the comment alone on a yes", async () => {
    const site = openSite();
    const { code, said } = await site.connect([], ["y", " Yes "]);
    assert.equal(code, 0);
    assert.match(
      said,
      /without asking\?[^]*Parley adds these 3 rules to policy\.yaml:\n {2}- id: agents-look-and-test/,
    );
    assert.match(said, /\[y\/N\] \n.*policy\.yaml has 3 more rules\. The server reads them within two seconds/);
    const state = await starterRulesIn(OWN);
    assert.equal(read(site), state.kind === "comment" ? state.after : assert.fail());
    assert.equal(statSync(site.policyFile).mode & 0o777, 0o640);
    const again = await site.connect([], ["y"]);
    assert.deepEqual([again.code, again.said.includes("without asking")], [0, false]);
  });

  for (const answer of ["", "n", "no", "yes please", "y\nn", "j", "ok"]) {
    it(`changes nothing on ${JSON.stringify(answer)}`, async () => {
      const site = openSite();
      assert.equal((await site.connect([], ["y", answer])).code, 0);
      assert.equal(read(site), OWN);
    });
  }

  it("changes nothing where nobody answers, and where no yes was meant for the rules", async () => {
    const site = openSite();
    assert.match((await site.connect([], ["y"])).said, /is as it was/);
    for (const [flags, answers] of [
      [["--yes"], ["y"]],
      [["--yes"], undefined],
      [[], undefined],
    ] as const) {
      const { code, said } = await site.connect(flags, answers);
      assert.equal(code, 0);
      assert.match(said, /without asking: parley connect --no-test --rules yes$/);
      assert.ok(!said.includes(BLOCK));
    }
    assert.equal(read(site), OWN);
  });

  it("takes the answer of a flag, at a terminal too", async () => {
    const site = openSite();
    const no = await site.connect(["--rules", "no"], ["y"]);
    assert.deepEqual([no.code, no.said.includes("without asking"), read(site)], [0, false, OWN]);
    await assert.rejects(site.connect(["--rules", "maybe"]), /--rules ANSWER must be one of yes, no|yes, no/);
    assert.equal((await site.connect(["--rules", "yes"])).code, 0);
    assert.ok(read(site).includes(BLOCK));
  });

  it("only looks with --dry-run", async () => {
    const site = openSite();
    assert.ok(!(await site.connect(["--dry-run", "--rules", "yes"])).said.includes("without asking"));
    assert.equal(read(site), OWN);
  });
});

describe("parley connect, where it cannot put the rules for coding agents in force", () => {
  for (const [where, site] of Object.entries<Surroundings>({
    "no server runs on the data folder": { runs: false },
    "the agents ask a server elsewhere": { env: { PARLEY_URL: "https://parley.example" } },
    "the agents ask another server of this computer": { env: { PARLEY_URL: "http://127.0.0.1:4998" } },
    "there is no policy file": { policy: null },
    "the comment was changed": { policy: OWN.replace("pwd,", "pwd, make *,") },
    "the policy file has a mistake": { policy: `${OWN}nonsense: 1\n` },
  })) {
    it(`prints them, and changes nothing: ${where}`, async () => {
      const opened = openSite(site);
      const { code, said } = await opened.connect([], ["y", "y"]);
      assert.equal(code, 0);
      assert.ok(said.includes(BLOCK), said);
      assert.match(said, /adds these lines below "rules:" in /);
      assert.ok(!said.includes("[y/N]"));
      assert.equal((await opened.connect(["--rules", "yes"])).code, 1);
      if (site.policy === null) assert.equal(existsSync(opened.policyFile), false);
      else assert.equal(read(opened), site.policy ?? OWN);
    });
  }

  it("takes another name of this computer for it", async () => {
    const site = openSite({ env: { PARLEY_URL: "http://localhost:4999" } });
    assert.match((await site.connect([], ["y", "n"])).said, /\[y\/N\]/);
  });
});

describe("the test prompt of parley connect", () => {
  for (const [name, row] of Object.entries(AGENTS)) {
    it(`is put to people by ${name}, whatever the rules for coding agents allow`, async () => {
      const agent = await row.load();
      const prompt = agent.read(Buffer.from(JSON.stringify(testPrompt(agent)))) ?? assert.fail();
      const policy = await loadPolicy(`version: 1\nrules:\n${STARTER_RULES}`);
      // Other agents' names of a shell change nothing.
      for (const fn of [prompt.tool, "Bash", "bash", "shell", "Shell", "exec_command", "run_shell_command"]) {
        const input = policyInput({ fn, agent: agent.agentId, args: () => JSON.stringify(prompt.shown) });
        const { decision, rules } = evaluate(policy, [], input);
        assert.deepEqual([decision, rules], ["ESCALATE", []], fn);
      }
    });
  }
});

describe("parley connect, for an agent with lists of its own", () => {
  it("names the command that prints them as rules", async () => {
    const site = openSite();
    const settings = join(site.policyFile, "../../../../.cursor/cli-config.json");
    mkdirSync(join(settings, ".."), { recursive: true });
    writeFileSync(settings, '{"permissions":{"allow":["Shell(git)"],"deny":[]}}');
    const named = "Cursor has lists of its own, with 1 entry. To print them as rules: parley policy import cursor";
    assert.ok((await site.connect(["--rules", "no"])).said.includes(named));
    writeFileSync(settings, "{ no JSON");
    assert.ok(!(await site.connect(["--rules", "no"])).said.includes("lists of its own"));
  });
});
