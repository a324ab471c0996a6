import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { converse, endsOf, type Talk } from "../support/conversation.ts";
import type { FakeStep } from "../support/fake-agents/play.ts";

const root = mkdtempSync(join(tmpdir(), "parley-agents-"));
after(() => rmSync(root, { recursive: true }));
const program = (name: string) => fileURLToPath(new URL(`../support/fake-agents/${name}.ts`, import.meta.url));
const newFolder = () => mkdtempSync(join(root, "a-"));

/** Agents that ask, and what each calls the same things. */
const AGENTS: Readonly<Record<string, Talk["settings"] & { writes: string; runs: string }>> = {
  claude: { type: "claude", command: [program("claude")], writes: "Write", runs: "Bash" },
  codex: { type: "codex", command: [program("codex")], writes: "fileChange", runs: "commandExecution" },
  opencode: { type: "acp", flavour: "opencode", command: [program("acp")], writes: "write", runs: "bash" },
  gemini: {
    type: "acp",
    flavour: "gemini",
    command: [program("acp"), "--gemini"],
    writes: "write_file",
    runs: "run_shell_command",
  },
};

const tell = (...steps: FakeStep[]) => ({ FAKE_AGENT: JSON.stringify(steps) });

for (const [name, { writes, runs, ...settings }] of Object.entries(AGENTS)) {
  describe(`the adapter of ${name}`, () => {
    it("passes on what the agent wants to do, and what was decided, and lets nothing else happen", async () => {
      const folder = newFolder();
      const env = tell(
        { write: "src/a.txt", text: "one\n" },
        { run: "echo two > b.txt" },
        { write: "../outside.txt", text: "three\n" },
        { write: "CLAUDE.md", text: "four\n" },
        { say: "That is all." },
      );
      const done = await converse({
        folder,
        settings,
        env,
        message: "Do it.",
        decide: ({ action, resource }) =>
          action === "write" && resource === "src/a.txt" ? { allow: true } : { allow: false, why: "Dana: leave that" },
      });

      assert.equal(done.end.kind, "done", JSON.stringify(done.end));
      assert.equal(done.end.summary, name === "claude" ? "Done." : "That is all.");
      assert.deepEqual(
        done.wishes.map(({ tool, action, resource }) => [tool, action, resource]),
        [
          [writes, "write", "src/a.txt"],
          // Gemini CLI has a command in the title of its call alone, where it proves nothing.
          [runs, "execute", name === "gemini" ? "echo two > b.txt (the agent's title)" : "echo two > b.txt"],
          [writes, "write", join(folder, "outside.txt")],
          [writes, "reconfigure", "CLAUDE.md"],
        ],
      );
      assert.match(done.wishes[0]?.diff ?? "", /one/);
      assert.equal(endsOf(done)[0], "done");
      assert.equal(readFileSync(join(folder, "tree/src/a.txt"), "utf8"), "one\n");
      for (const path of ["tree/b.txt", "outside.txt", "tree/CLAUDE.md"]) assert.ok(!existsSync(join(folder, path)));
      assert.ok(done.messages.includes("That is all."), done.messages.join("|"));
      const heard = session(folder, done.sessions[0]).results;
      assert.ok(heard.join("\n").includes("Dana: leave that"), `the reason reaches the model: ${heard.join("\n")}`);
    });

    it("goes on with a session after the agent was killed, and starts afresh where it is not known", async () => {
      const folder = newFolder();
      const env = tell({ run: "echo one >> log.txt" }, { crash: true }, { run: "echo two >> log.txt" });
      const died = await converse({ folder, settings, env, message: "Do it." });
      assert.deepEqual([died.end.kind, died.end.kind === "died" && died.end.canResume], ["died", true]);
      assert.deepEqual(endsOf(died), ["done"]);

      const [resume = ""] = died.sessions;
      const gone = await converse({ folder, settings, resume, env: {}, message: "Continue." });
      assert.equal(gone.end.kind, "done", JSON.stringify(gone.end));
      assert.equal(readFileSync(join(folder, "tree/log.txt"), "utf8"), "one\ntwo\n");
      assert.deepEqual(
        gone.messages.filter((text) => text.includes("said before")),
        [],
      );

      const unknown = await converse({ folder: newFolder(), settings, resume, env: {}, message: "Continue." });
      assert.deepEqual([unknown.end.kind, unknown.end.kind === "died" && unknown.end.canResume], ["died", false]);
    });

    it("has the agent stop while it waits for a decision, and while it works", async () => {
      const folder = newFolder();
      const waiting = await converse({
        folder,
        settings,
        message: "Do it.",
        env: tell({ write: "late.txt", text: "late" }),
        decide: (_wish, stop) => {
          stop();
          return new Promise(() => {});
        },
      });
      assert.deepEqual(waiting.end, { kind: "interrupted" });
      assert.ok(!existsSync(join(folder, "tree/late.txt")));
      assert.equal(waiting.exit.signal, null, "it went by itself");

      const working = await converse({
        folder: newFolder(),
        settings,
        message: "Do it.",
        env: tell({ say: "I wait." }, { hang: true }),
        onLine: (line, { interrupt }) => void (/I wa/.test(line) && interrupt()),
      });
      assert.deepEqual([working.end, working.exit.signal], [{ kind: "interrupted" }, null]);
    });

    it("says why the agent failed", async () => {
      const failed = await converse({
        folder: newFolder(),
        settings,
        message: "Do it.",
        env: tell({ fail: "The model is out." }),
      });
      assert.equal(failed.end.kind, "failed");
      assert.match(failed.end.kind === "failed" ? failed.end.error : "", /The model is out\./);
    });

    it("survives lines that are garbage, halves of messages, and far too long", async () => {
      const long = "x".repeat(1_200_000);
      const folder = newFolder();
      mkdirSync(join(folder, "tree"));
      const steps: FakeStep[] = [
        { raw: 'garbage\n\n[1,2]\n"text"\n{"type":\n{"jsonrpc":"2.0","id":77,"result":{}}\n{"method":5}\nnull\n' },
        { raw: `${"[".repeat(5000)}\n` },
        { raw: `{"deep":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}\n` },
        { write: "long.txt", text: long },
        { write: "short.txt", text: "short" },
      ];
      writeFileSync(join(folder, "tree/.fake-agent.json"), JSON.stringify(steps));
      const done = await converse({ folder, settings, message: "Do it." });
      assert.equal(done.end.kind, "done", JSON.stringify(done.end).slice(0, 500));
      assert.ok(!existsSync(join(folder, "tree/long.txt")), "what nobody could read was not allowed");
      assert.equal(readFileSync(join(folder, "tree/short.txt"), "utf8"), "short");
    });

    it("writes what it needs for the agent's eyes only, and through no link that an agent has planted", async () => {
      const folder = newFolder();
      const env = tell({ say: "Hello." });
      const mcp = { url: "http://127.0.0.1:9/mcp", token: "the-token-of-this-attempt" };
      const done = await converse({ folder, settings, env, mcp, message: "Do it." });
      assert.equal(done.end.kind, "done");
      const file = { claude: ".parley-mcp.json", gemini: ".gemini/settings.json" }[name];
      if (file !== undefined) {
        assert.equal(statSync(join(folder, "home", file)).mode & 0o777, 0o600);
        assert.match(readFileSync(join(folder, "home", file), "utf8"), /the-token-of-this-attempt.*86400000/);
      }

      const planted = newFolder();
      mkdirSync(join(planted, "home"), { mode: 0o700 });
      mkdirSync(join(planted, "elsewhere"));
      writeFileSync(join(planted, "elsewhere/settings.json"), "mine");
      for (const link of [".codex", ".gemini"]) symlinkSync(join(planted, "elsewhere"), join(planted, "home", link));
      symlinkSync(join(planted, "elsewhere/settings.json"), join(planted, "home/.parley-mcp.json"));
      await converse({ folder: planted, settings, env, mcp, message: "Do it." }).catch(() => undefined);
      assert.equal(readFileSync(join(planted, "elsewhere/settings.json"), "utf8"), "mine");
    });
  });
}

function session(folder: string, id: string | undefined): { results: string[] } {
  return JSON.parse(readFileSync(join(folder, "home/.fake-agent", `${id}.json`), "utf8")) as { results: string[] };
}
