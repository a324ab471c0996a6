import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { AGENTS } from "../../src/connect/registry.ts";
import { start } from "../support/program.ts";

interface Reply {
  code: number | null;
  out: string;
  err: string;
}

const SECRET = "sk-secret-1";
/** The members that each of the agents looks for. */
const INPUT = {
  command: "ls",
  input: { command: "ls" },
  questions: [{ question: "Go?", options: [{ label: "Yes" }, { label: "No" }] }],
};
/** Each agent's own way to hear no from a hook that failed, as its program takes it in each of its events. */
const HEARS_NO: Readonly<Record<string, (reply: Reply, event: string) => unknown>> = {
  claude: ({ code, out, err }, event) => {
    const { hookSpecificOutput: said } = JSON.parse(out) as { hookSpecificOutput: Record<string, unknown> };
    if (said["hookEventName"] !== event) return false;
    if (event === "PreToolUse") return code === 2 && err !== "" && said["permissionDecision"] === "deny";
    return code === 0 && (said["decision"] as { behavior: string }).behavior === "deny";
  },
  codex: ({ code, err }) => code === 2 && err !== "",
  gemini: ({ code, err }) => code === 2 && err !== "",
  copilot: ({ code, out }) => code === 2 && (JSON.parse(out) as { behavior: string }).behavior === "deny",
  cursor: ({ code, out }) => code === 0 && (JSON.parse(out) as { permission: string }).permission === "deny",
  // Parley's own plugins read the text, whatever the exit code is.
  opencode: ({ out }) => (JSON.parse(out) as { decision: string }).decision === "deny",
  openclaw: ({ out }) => (JSON.parse(out) as { decision: string }).decision === "deny",
};

for (const [name, row] of Object.entries(AGENTS)) {
  describe(`a hook of ${row.title} that fails before it can ask`, () => {
    const prompt = (event: string, input: unknown) => ({
      // The names of every agent.
      hook_event_name: event,
      session_id: "s",
      sessionId: "s",
      conversation_id: "s",
      tool_name: "Bash",
      toolName: "Bash",
      tool_input: input,
      toolInput: input,
    });

    it("says no, in the form of each event, and no secret", async () => {
      const { events } = await row.load();
      const hearsNo = HEARS_NO[name] ?? assert.fail(`no row for ${name}`);
      for (const event of events) {
        const whole = JSON.stringify(prompt(event, INPUT));
        const failures: readonly (readonly [string, ...string[]])[] = [
          [whole, `--key=${SECRET}`],
          [whole, SECRET],
          [whole, "--by", SECRET],
          [whole, "--timeout", SECRET],
          [whole, "--url", `ftp://ana:${SECRET}@127.0.0.1/?key=${SECRET}`],
          [JSON.stringify(prompt(event, SECRET))],
          [whole.slice(0, -3)],
          [whole.replace('"ls"', '"\xff"')],
        ];
        for (const [sent, ...flags] of failures) {
          const run = start(["hook", name, ...flags]);
          run.child.stdin.end(Buffer.from(sent, "latin1"));
          const reply = await run.ended;
          assert.ok(hearsNo(reply, event), JSON.stringify({ sent, flags, reply }));
          assert.doesNotMatch(reply.out + reply.err, new RegExp(SECRET));
        }
      }
    });

    it("says no when it is ended before its whole event has come", async () => {
      const { events } = await row.load();
      const hearsNo = HEARS_NO[name] ?? assert.fail(`no row for ${name}`);
      const event = events[0] ?? assert.fail();
      const whole = JSON.stringify(prompt(event, INPUT));
      for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
        const run = start(["hook", name]);
        // Its standard input stays open. What it holds is more than a pipe, so that the hook reads already.
        await new Promise((resolve) => run.child.stdin.write(whole.padEnd(200_000), resolve));
        run.child.kill(signal);
        const reply = await run.ended;
        assert.ok(hearsNo(reply, event), JSON.stringify({ signal, reply }));
        assert.match(reply.out + reply.err, /interrupted before anybody decided/);
      }
    });

    it("says in its log why nobody was asked, where the agent then asks at its terminal", async () => {
      const router = createServer((_, reply) => reply.end("<!doctype html>")).listen(0, "127.0.0.1");
      await once(router, "listening");
      const url = `http://127.0.0.1:${(router.address() as AddressInfo).port}`;
      const { events } = await row.load();
      const run = start(["hook", name, "--url", url]);
      run.child.stdin.end(JSON.stringify({ ...prompt(events[0] ?? assert.fail(), INPUT), command: "ls" }));
      const { err } = await run.ended;
      router.closeAllConnections();
      router.close();
      assert.match(
        err,
        /^Parley could not ask anybody\. What answers at http:\/\/127\.0\.0\.1:\d+ is no Parley server/,
      );
    });
  });
}
