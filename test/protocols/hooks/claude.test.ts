import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { revokeKey } from "../../../src/access/revoke-key.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { advanceUntil, fresh, from, ROOMY, sendRaw, sharedWorld, until } from "../../support/contract.ts";
import { decider, somebody } from "../../support/deciders.ts";
import type { Reply, World } from "../../support/world.ts";

type Sent = Readonly<Record<string, unknown>>;

/** A prompt as Claude Code sends it: it names no use of the tool. */
const PROMPT = {
  session_id: "abc123",
  transcript_path: "/etc/passwd",
  cwd: "/Users/ana/app",
  permission_mode: "default",
  hook_event_name: "PermissionRequest",
  tool_name: "Bash",
  tool_input: { command: "rm -rf node_modules", description: "Remove node_modules directory" },
  permission_suggestions: [],
};
const prompt = (command: string): Sent => ({ ...PROMPT, tool_input: { command } });
const decision = (one: object) => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision: one } });
const allowed = (sent: Sent) => decision({ behavior: "allow", updatedInput: sent["tool_input"] });
const denied = (message: string) => decision({ behavior: "deny", message });

const post = (world: World, body: unknown, headers: Record<string, string> = {}, query = ""): Promise<Reply> =>
  world.call("POST", `/hooks/claude${query}`, {
    headers: { "content-type": "application/json", ...headers },
    body,
  });

/** Nothing in a reply may let Claude Code run the tool. */
function assertUndecided(reply: Reply, status: number): void {
  assert.equal(reply.status, status, reply.text);
  assert.doesNotMatch(reply.text, /allow/);
}

describe("POST /hooks/claude", () => {
  // A receipt older than its request approves nothing, and both are of one clock.
  const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });

  it("allows what a person approves, who sees the tool, its whole input and the folder", async () => {
    const operator = await decider(world(), "1");
    const asking = post(world(), PROMPT);
    const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
    const { body } = await operator.whole(ask?.id ?? "");
    assert.deepEqual([body.fn, body.agent, body.run], ["Bash", "claude-code (without a key)", "abc123"]);
    assert.deepEqual(
      (body.arguments as { name: string; text: string }[]).map(({ name, text }) => [name, JSON.parse(text)]),
      Object.entries({ command: "rm -rf node_modules", cwd: PROMPT.cwd, description: "Remove node_modules directory" }),
    );
    await operator.decides({ approved: true });
    const { status, body: said } = await asking;
    assert.deepEqual([status, said], [200, allowed(PROMPT)]);
  });

  it("denies with the reason that a person gives", async () => {
    const jane = await somebody(world());
    const asking = post(world(), PROMPT, {}, `?to=${jane.number}`);
    await jane.decides({ approved: false, comment: "move it away instead" });
    assert.deepEqual((await asking).body, denied(`Rejected by ${jane.name}: move it away instead`));
  });

  it("denies after nobody has decided in time, and an answer that comes late changes nothing", async () => {
    const operator = await decider(world(), "1");
    const asking = post(world(), PROMPT, {}, "?timeout=30s");
    const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
    const { body } = await operator.whole(ask?.id ?? "");
    await world().advance(31_000);
    assert.deepEqual((await asking).body, denied("Not approved: nobody decided within 30 s."));
    const late = await operator.decide(ask?.id ?? "", { approved: true, digest: body.digest });
    assert.notEqual(late.status, 200);
  });

  it("takes no edited input, because people approve exactly what Claude Code sent", async () => {
    const operator = await decider(world(), "1");
    const asking = post(world(), PROMPT);
    const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
    const edited = await operator.decide(ask?.id ?? "", { approved: true, kwargs: { command: "ls" } });
    assert.notEqual(edited.status, 200);
    await operator.decides({ approved: false, comment: "list them first" });
    assert.deepEqual((await asking).body, denied("Rejected by operator: list them first"));
  });

  it("brings people's answers to Claude Code's own questions, also where several may be chosen", async () => {
    const operator = await decider(world(), "1");
    const options = ["lint", "unit", "e2e"].map((label) => ({ label, description: label }));
    const questions = [
      { question: "Which ones?", header: "Several", multiSelect: true, options },
      { question: "Which one?", header: "One", multiSelect: false, options },
    ];
    const asking = post(world(), { ...PROMPT, tool_name: "AskUserQuestion", tool_input: { questions } });
    const asks = await until(async () => ((await operator.inbox()).length === 2 ? operator.inbox() : undefined));
    for (const { id, title } of asks)
      await operator.decide(id, title === "One" ? { option: "option_2" } : { text: "#1, e2e" });
    const answers = { "Which ones?": "lint, e2e", "Which one?": "unit" };
    assert.deepEqual((await asking).body, decision({ behavior: "allow", updatedInput: { questions, answers } }));
  });

  it("withdraws the request when Claude Code closes the connection", async () => {
    const operator = await decider(world(), "1");
    const gone = new AbortController();
    const asking = fetch(`${world().url}/hooks/claude`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(PROMPT),
      signal: gone.signal,
    });
    await until(async () => (await operator.inbox()).length === 1);
    gone.abort();
    await assert.rejects(asking);
    await until(async () => (await operator.inbox()).length === 0);
  });

  it("decides nothing for a key that is revoked meanwhile, and withdraws its request", async () => {
    const operator = await decider(world(), "1");
    const { ctx } = world().server;
    const { text, key } = await createKey(ctx, { name: fresh("coder"), scope: "agent" });
    const asking = post(world(), PROMPT, { authorization: `Bearer ${text}` });
    await until(async () => (await operator.inbox()).length === 1);
    await revokeKey(ctx, key.id);
    let isOver = false;
    const replied = asking.finally(() => (isOver = true));
    await advanceUntil(world(), 500, () => isOver);
    assertUndecided(await replied, 200);
    assert.deepEqual(await operator.inbox(), []);
  });

  it("withdraws the request of a use that is over, as Claude Code tells after a yes at its own terminal", async () => {
    const operator = await decider(world(), "1");
    const asking = [post(world(), prompt("one")), post(world(), prompt("two"))];
    await until(async () => (await operator.inbox()).length === 2);
    const over = (event: string, more: object) =>
      post(world(), { ...prompt("one"), hook_event_name: event, tool_use_id: "toolu_1", tool_response: {}, ...more });
    // Neither another session's use nor another agent's ends the wait.
    const { text: key } = await createKey(world().server.ctx, { name: fresh("coder"), scope: "agent" });
    assert.deepEqual((await over("PostToolUse", { session_id: "other" })).body, {});
    const others = { ...prompt("one"), hook_event_name: "PostToolUse", tool_use_id: "toolu_1" };
    assert.deepEqual((await post(world(), others, { authorization: `Bearer ${key}` })).body, {});
    assert.equal((await operator.inbox()).length, 2);
    assert.deepEqual((await over("PostToolUse", {})).body, {});
    assert.deepEqual((await asking[0])?.body, {});
    await until(async () => (await operator.inbox()).length === 1);
    assert.deepEqual((await over("PermissionDenied", { tool_input: { command: "two" } })).body, {});
    assert.deepEqual((await asking[1])?.body, {});
    await until(async () => (await operator.inbox()).length === 0);
  });

  it("withdraws it however large the result of the tool is", async () => {
    const operator = await decider(world(), "1");
    const results = [{ base64: "A".repeat(4_000_000) }, { names: Array.from({ length: 20_000 }, (_, n) => `f${n}`) }];
    for (const [n, tool_response] of results.entries()) {
      const asking = post(world(), prompt(`large ${n}`));
      await until(async () => (await operator.inbox()).length === 1);
      const over = { ...prompt(`large ${n}`), hook_event_name: "PostToolUse", tool_response, tool_use_id: "toolu_1" };
      assert.deepEqual((await post(world(), over)).body, {});
      assert.deepEqual((await asking).body, {});
      await until(async () => (await operator.inbox()).length === 0);
    }
  });

  it("decides PreToolUse too, each use once, and asks at the terminal where the door refuses", async () => {
    const operator = await decider(world(), "1");
    const use = { ...PROMPT, hook_event_name: "PreToolUse", tool_use_id: "functions.Bash:0" };
    const reply = (permissionDecision: string, permissionDecisionReason: string, more = {}) => ({
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason, ...more },
    });
    const approved = reply("allow", "Approved by operator", { updatedInput: PROMPT.tool_input });
    // Two hooks about one use share its request.
    const asking = [post(world(), use), post(world(), use)];
    await operator.decides({ approved: true });
    for (const one of asking) assert.deepEqual((await one).body, approved);
    // Later the id names another use, in the same session, in another one, and with another input.
    for (const more of [{}, { session_id: "tuesday" }, { tool_input: { command: "another" } }]) {
      const again = post(world(), { ...use, ...more });
      await operator.decides({ approved: false });
      assert.deepEqual((await again).body, reply("deny", "Rejected by operator: Rejected without a comment"));
    }
    const other = await post(world(), use, {}, "?to=nobody");
    assert.equal(other.body.hookSpecificOutput.permissionDecision, "ask");
    const unknown = await post(world(), PROMPT, {}, "?to=nobody");
    assertUndecided(unknown, 200);
    assert.match(unknown.body.systemMessage, /^Parley could not ask anybody\. /);
  });

  it("stores how an approved use ended, without its result, where the hook says that ends are reported", async () => {
    const operator = await decider(world(), "1");
    const endOf = async (query: string, event: object) => {
      const sent = prompt(fresh("npm run"));
      const asking = post(world(), sent, {}, query);
      const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
      await operator.decides({ approved: true });
      await asking;
      const over = { ...sent, tool_use_id: "toolu_1", tool_response: "a secret", ...event };
      assert.deepEqual((await post(world(), over, {}, query)).body, {});
      const { ctx } = world().server;
      const stored = await ctx.db.all<{ state: string; words: string | null; result_digest: string | null }>(
        sql`SELECT state, words, result_digest FROM call_outcomes WHERE ask_id = ${ask?.id ?? ""}`,
      );
      return stored.map(({ state, words, result_digest }) => [state, words, result_digest]);
    };
    const done = await endOf("?reports=end", { hook_event_name: "PostToolUse", cwd: "/Users/ana/app/dist" });
    assert.deepEqual(done, [["done", null, null]]);
    const failure = { hook_event_name: "PostToolUseFailure", error: "Exit code 3\na secret", is_interrupt: false };
    assert.deepEqual(await endOf("?reports=end", failure), [["failed", "exit 3", null]]);
    assert.deepEqual(await endOf("", { hook_event_name: "PostToolUse" }), []);
  });

  it("decides nothing about other events", async () => {
    for (const event of ["Stop", "PostToolUse", "Notification"]) {
      const { status, body } = await post(world(), { ...PROMPT, hook_event_name: event });
      assert.deepEqual([status, body], [200, {}]);
    }
  });

  it("refuses what it does not understand, so that Claude Code asks at its own terminal", async () => {
    for (const body of ["", "{", "[]", "{}", '{"hook_event_name":"PermissionRequest","tool_name":"Bash"}'])
      assertUndecided(await post(world(), body), 400);
    for (const query of ["?timeout=never", "?timeout=1h&timeout=2h", "?by=3", "?reports=start", "?to=", "?to=1&to=2"])
      assertUndecided(await post(world(), PROMPT, {}, query), 400);
    assertUndecided(await post(world(), PROMPT, { "content-type": "text/plain" }), 415);
    assertUndecided(await post(world(), "[".repeat(3 * 1_048_576)), 413);
    assertUndecided(await post(world(), { ...PROMPT, tool_input: { list: Array(10_001).fill(0) } }), 413);
    assert.deepEqual(await (await decider(world(), "1")).inbox(), []);
  });

  it("is open to no web page and under no foreign name", async () => {
    assertUndecided(await post(world(), PROMPT, { origin: "https://evil.example" }), 403);
    assertUndecided(await post(world(), PROMPT, { origin: "null" }), 403);
    const body = JSON.stringify(PROMPT);
    const head = `POST /hooks/claude HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\n`;
    const foreign = await sendRaw(
      world().url,
      `${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    assert.equal(foreign.status, 421);
  });

  it("wants a key from whoever is not on this computer, and the scope of an agent", async () => {
    assertUndecided(await post(world(), PROMPT, from("203.0.113.7")), 401);
    assertUndecided(await post(world(), PROMPT, { authorization: "Bearer " }), 401);
    assertUndecided(await post(world(), PROMPT, { authorization: `Bearer parley_agent_${"x".repeat(38)}` }), 401);
    const { text: phone } = await createKey(world().server.ctx, { name: fresh("phone"), scope: "answer", person: "1" });
    assertUndecided(await post(world(), PROMPT, { authorization: `Bearer ${phone}` }), 403);
    const { text: key } = await createKey(world().server.ctx, { name: fresh("coder"), scope: "agent" });
    const operator = await decider(world(), "1");
    const asking = post(world(), PROMPT, { authorization: `Bearer ${key}`, ...from("203.0.113.7") });
    await operator.decides({ approved: true });
    assert.deepEqual((await asking).body, allowed(PROMPT));
  });
});
