import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, it } from "node:test";
import { HOUR, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider, somebody } from "../support/deciders.ts";
import { newFolder, parley, ROOT, type Run, serve, start } from "../support/program.ts";

/** The common members of every hook's input, as Claude Code's reference shows them. */
const COMMON = {
  session_id: "abc123",
  transcript_path: "/Users/ana/.claude/projects/app/00893aaf.jsonl",
  cwd: "/Users/ana/app",
  permission_mode: "default",
};
/** The folder as people see it. */
const FOLDER = {
  name: "cwd",
  text: '"/Users/ana/app"',
  typed: { kind: "text", is: "text", lines: ["/Users/ana/app"] },
  secret: false,
  masked: null,
};
const PERMISSION_REQUEST = {
  ...COMMON,
  hook_event_name: "PermissionRequest",
  tool_name: "Bash",
  tool_input: { command: "rm -rf node_modules", description: "Remove node_modules directory" },
  permission_suggestions: [{ type: "toolAlwaysAllow", tool: "Bash" }],
};
const PRE_TOOL_USE = {
  ...COMMON,
  hook_event_name: "PreToolUse",
  tool_name: "Write",
  tool_input: { file_path: "/path/to/file.txt", content: "file content" },
  tool_use_id: "toolu_01ABC123",
};

function hook(url: string, input: unknown, ...flags: string[]): Run {
  const run = start(["hook", "claude", ...flags], { PARLEY_URL: url });
  run.child.stdin.end(typeof input === "string" ? input : JSON.stringify(input));
  return run;
}

async function said(run: Run): Promise<Record<string, unknown>> {
  const { code, out, err } = await run.ended;
  assert.equal(code, 0, err);
  return JSON.parse(out) as Record<string, unknown>;
}

/** Claude Code runs no tool after this exit code of PreToolUse, whatever its own rules allow. */
function assertBlocked({ code, out, err }: Awaited<Run["ended"]>): void {
  assert.equal(code, 2, `${out}${err}`);
  const { hookSpecificOutput } = JSON.parse(out) as { hookSpecificOutput: Record<string, string> };
  assert.equal(hookSpecificOutput["permissionDecision"], "deny");
  assert.match(err, /^Parley denied it, because the hook could not ask anybody: /);
}

const permission = (decision: object) => ({
  hookSpecificOutput: { hookEventName: "PermissionRequest", decision },
});
const allowed = (updatedInput: object) => permission({ behavior: "allow", updatedInput });
const preToolUse = (permissionDecision: string, permissionDecisionReason: string, updatedInput?: object) => ({
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision,
    permissionDecisionReason,
    ...(updatedInput && { updatedInput }),
  },
});

/** Returns how many times a request to approve a call was posted, those that joined another among them. */
async function requestsPosted(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const posted =
    /^parley_http_request_seconds_count\{route="[^"]*\/function_calls",method="POST",status="200"\} (\d+)$/m;
  return Number(posted.exec(metrics)?.[1] ?? 0);
}

describe("a hook of Claude Code", () => {
  // A receipt older than its request approves nothing, and the hook has the clock of this computer.
  const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });

  it("is decided by a person, who sees the whole input", async () => {
    const operator = await decider(world(), "1");
    const asking = hook(world().url, PERMISSION_REQUEST);
    const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
    const shown = (await operator.whole(ask?.id ?? "")).body;
    assert.deepEqual(
      [shown.fn, shown.agent, shown.run, shown.arguments],
      [
        "Bash",
        "claude-code (without a key)",
        "abc123",
        [
          {
            name: "command",
            text: '"rm -rf node_modules"',
            typed: { kind: "text", is: "text", lines: ["rm -rf node_modules"] },
            secret: false,
            masked: null,
          },
          FOLDER,
          {
            name: "description",
            text: '"Remove node_modules directory"',
            typed: { kind: "text", is: "text", lines: ["Remove node_modules directory"] },
            secret: false,
            masked: null,
          },
        ],
      ],
    );
    await operator.decides({ approved: true });
    assert.deepEqual(await said(asking), allowed(PERMISSION_REQUEST.tool_input));

    const again = hook(world().url, PERMISSION_REQUEST);
    await operator.decides({ approved: false, comment: "move \u202eit away instead" });
    const message = "Rejected by operator: move it away instead";
    assert.deepEqual(await said(again), permission({ behavior: "deny", message }));
  });

  it("is one request for one use of a tool, and goes to whom it is told", async () => {
    const jane = await somebody(world());
    const before = await requestsPosted(world().url);
    const runs = [1, 2].map(() => hook(world().url, PRE_TOOL_USE, "--to", jane.number));
    // A hook that comes after the decision asks anew.
    await until(async () => (await requestsPosted(world().url)) === before + 2);
    await jane.decides({ approved: true, comment: "once" });
    const approved = preToolUse("allow", `Approved by ${jane.name}: once`, PRE_TOOL_USE.tool_input);
    for (const run of runs) assert.deepEqual(await said(run), approved);
    assert.deepEqual(await jane.inbox(), []);
    // The same use with another input is not what was approved.
    const other = hook(world().url, { ...PRE_TOOL_USE, tool_input: { file_path: "/etc/passwd", content: "" } });
    await (await decider(world(), "1")).decides({ approved: false, comment: "no" });
    assert.deepEqual(await said(other), preToolUse("deny", "Rejected by operator: no"));
  });

  it("allows only what one of those approved whom --by names", async () => {
    const [jane, bo] = [await somebody(world()), await somebody(world())];
    const use = (n: number) => ({ ...PRE_TOOL_USE, tool_use_id: `toolu_by${n}` });
    for (const [n, by] of [jane.number, `${bo.number},${jane.number}`, "enrolled"].entries()) {
      const asking = hook(world().url, use(n), "--to", jane.number, "--by", by);
      await jane.decides({ approved: true });
      assert.deepEqual(await said(asking), preToolUse("allow", `Approved by ${jane.name}`, PRE_TOOL_USE.tool_input));
    }
    const asking = hook(world().url, use(9), "--to", jane.number, "--by", bo.number);
    await jane.decides({ approved: true });
    const because = `Not approved: ${jane.name} decided, who may not approve this call.`;
    assert.deepEqual(await said(asking), preToolUse("deny", because));
  });

  it("keeps every digit of what is asked", async () => {
    const operator = await decider(world(), "1");
    const text = JSON.stringify({ ...PERMISSION_REQUEST, tool_input: { id: 0, note: null } });
    const asking = hook(world().url, text.replace('"id":0', '"id":1152921504606846977'));
    const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
    assert.deepEqual((await operator.whole(ask?.id ?? "")).body.arguments, [
      FOLDER,
      { name: "id", text: "1152921504606846977", typed: null, secret: false, masked: null },
      { name: "note", text: "null", typed: null, secret: false, masked: null },
    ]);
    await operator.decides({ approved: true });
    const { out } = await asking.ended;
    assert.match(out, /"updatedInput":\{"id":1152921504606846977,"note":null\}/);
  });

  it("is denied when nobody decides in time", async () => {
    const operator = await decider(world(), "1");
    const asking = [hook(world().url, PERMISSION_REQUEST), hook(world().url, { ...PRE_TOOL_USE, tool_use_id: "late" })];
    await until(async () => (await operator.inbox()).length === 2);
    await world().advance(HOUR);
    const why = "Not approved: nobody decided within 3600 s.";
    const [request, use] = await Promise.all(asking.map(said));
    assert.deepEqual(request, permission({ behavior: "deny", message: why }));
    assert.deepEqual(use, preToolUse("deny", why));
  });

  it("brings what a person answers to Claude Code's own questions", async () => {
    const operator = await decider(world(), "1");
    const question = { question: "Which library?", header: "Library", multiSelect: false };
    const options = [
      { label: "date-fns (Recommended)", description: "Small" },
      { label: "dayjs", description: "Smaller" },
    ];
    const other = { question: "Anything else?", header: "Else", multiSelect: false, options };
    const input = { questions: [{ ...question, options }, other] };
    const asking = hook(world().url, { ...PERMISSION_REQUEST, tool_name: "AskUserQuestion", tool_input: input });
    const asks = await until(async () => ((await operator.inbox()).length === 2 ? operator.inbox() : undefined));
    for (const { id, title } of asks) {
      await operator.decide(id, title === "Library" ? { option: "option_2" } : { text: "No, thank you." });
    }
    const answers = { "Which library?": "dayjs", "Anything else?": "No, thank you." };
    assert.deepEqual(await said(asking), allowed({ ...input, answers }));
  });

  it("withdraws the other questions before it ends where one of them cannot be asked", async () => {
    const operator = await decider(world(), "1");
    const questions = ["Which one?", ""].map((question) => ({ question, options: [] }));
    const asking = hook(world().url, {
      ...PERMISSION_REQUEST,
      tool_name: "AskUserQuestion",
      tool_input: { questions },
    });
    const { out } = await asking.ended;
    assert.match(out, /Parley could not ask anybody\. Parley refused the request/);
    assert.deepEqual(await operator.inbox(), []);
  });

  it("says where several answers may be chosen, and brings their labels", async () => {
    const operator = await decider(world(), "1");
    const options = ["lint", "unit", "e2e, in a browser"].map((label) => ({ label, description: label }));
    const questions = ["By number", "By label", "By a press and words", "By a press", "In other words"].map(
      (header) => {
        return { question: `${header}?`, header, multiSelect: true, options };
      },
    );
    const input = { questions };
    const asking = hook(world().url, { ...PERMISSION_REQUEST, tool_name: "AskUserQuestion", tool_input: input });
    const asks = await until(async () => ((await operator.inbox()).length === 5 ? operator.inbox() : undefined));
    const chosen: Record<string, object> = {
      "By number": { text: "#1, #3" },
      "By label": { text: "E2E, in a browser; lint" },
      "By a press and words": { option: "option_2", text: "unit, #1" },
      "By a press": { option: "option_3" },
      "In other words": { text: "#2, and the smoke tests" },
    };
    for (const { id, title } of asks) {
      const { text } = await operator.whole(id);
      assert.match(text, /Several may be chosen/);
      await operator.decide(id, chosen[title] ?? {});
    }
    const answers = {
      "By number?": "lint, e2e, in a browser",
      "By label?": "e2e, in a browser, lint",
      "By a press and words?": "unit, lint",
      "By a press?": "e2e, in a browser",
      "In other words?": "unit, and the smoke tests",
    };
    assert.deepEqual(await said(asking), allowed({ ...input, answers }));
  });

  it("leaves alone what is nothing to decide, and blocks the tool where it can read no hook or is called wrongly", async () => {
    const idle = await hook(world().url, { ...COMMON, hook_event_name: "Notification", message: "idle" }).ended;
    assert.deepEqual([idle.code, idle.out], [0, ""]);
    const use = (tool_input: string) =>
      JSON.stringify(PRE_TOOL_USE).replace(/"tool_input":\{[^}]*\}/, `"tool_input":${tool_input}`);
    const UNREADABLE = ["", "{", "[]", "\xff", use('"x"'), use("[1]"), use("null"), use('{"n":1e400}')];
    const nameless = use('{"a":1}').replace('"Write"', '""');
    const runs = [
      ...[...UNREADABLE, nameless].map((input) => hook(world().url, input)),
      hook(world().url, PRE_TOOL_USE, "--timeout", "never"),
      hook(world().url, PRE_TOOL_USE, "--no-such-flag"),
      hook(world().url, PRE_TOOL_USE, "extra"),
      hook("http://127.0.0.1:notaport", PRE_TOOL_USE),
      hook("not an address", PRE_TOOL_USE),
    ];
    for (const run of runs) assertBlocked(await run.ended);
  });

  it("shows an input that is no exact JSON as its text, with escapes, and runs what was shown", async () => {
    const operator = await decider(world(), "1");
    const deep = `${'{"a":'.repeat(70)}{"cmd":"rm -rf /srv"}${"}".repeat(70)}`;
    const INPUTS: readonly (readonly [string, string])[] = [
      [deep, deep],
      ['{"command":"ls # \\ud83d"}', '{"command":"ls # \\ud83d"}'],
      ['{"command":"ls","command":"rm -rf /"}', '{"command":"rm -rf /"}'],
    ];
    for (const [input, shown] of INPUTS) {
      const text = JSON.stringify({ ...PERMISSION_REQUEST, tool_input: 0 }).replace(
        '"tool_input":0',
        `"tool_input":${input}`,
      );
      const asking = hook(world().url, text);
      const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
      const rows = (await operator.whole(ask?.id ?? "")).body.arguments as { name: string; text: string }[];
      const seen = rows.map(({ name, text: json }) => [name, JSON.parse(json)]);
      assert.deepEqual(Object.fromEntries(seen), { cwd: COMMON.cwd, input_json: shown });
      await operator.decides({ approved: true });
      assert.deepEqual(await said(asking), allowed(JSON.parse(shown) as object));
    }
  });

  it("withdraws its request once somebody has decided at Claude Code's own terminal", async () => {
    const operator = await decider(world(), "1");
    const transcript = join(ROOT, "transcript.jsonl");
    const { tool_name: name, tool_input: input } = PERMISSION_REQUEST;
    const line = (...content: object[]) => `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`;
    const use = (id: string) => line({ type: "text", text: "x" }, { type: "tool_use", id, name, input });
    const result = (id: string) => line({ type: "tool_result", tool_use_id: id, content: "ok" });
    // The same call was made before; that it was over says nothing.
    writeFileSync(transcript, use("toolu_1") + result("toolu_1") + use("toolu_2"));
    const asking = hook(world().url, { ...PERMISSION_REQUEST, transcript_path: transcript });
    const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
    appendFileSync(transcript, `${result("toolu_1")}not JSON "tool_result"\n{"message":{"content":"tool_"}}\n`);
    await pause(2500);
    assert.equal((await operator.inbox()).length, 1);
    appendFileSync(transcript, result("toolu_2"));
    const { code, out, err } = await asking.ended;
    assert.deepEqual([code, out, err], [0, "", ""]);
    assert.equal((await operator.whole(ask?.id ?? "")).body.state, "cancelled");
  });

  it("withdraws its request when it is interrupted, and blocks the tool", async () => {
    const operator = await decider(world(), "1");
    const asking = hook(world().url, PERMISSION_REQUEST);
    const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
    asking.child.kill("SIGTERM");
    const message =
      "Parley denied it, because the hook could not ask anybody: it was interrupted before anybody decided.";
    assert.deepEqual(await said(asking), permission({ behavior: "deny", message }));
    assert.equal((await operator.whole(ask?.id ?? "")).body.state, "cancelled");
  });
});

describe("a hook of Claude Code, without a server to ask", () => {
  it("approves nothing: the terminal asks", async () => {
    const server = await serve(newFolder());
    server.child.kill("SIGTERM");
    await server.ended;
    const [request, use] = await Promise.all(
      [hook(server.url, PERMISSION_REQUEST), hook(server.url, PRE_TOOL_USE)].map(said),
    );
    const why = `Parley could not ask anybody. No Parley server answers at ${server.url}.`;
    assert.deepEqual(request, { systemMessage: why });
    assert.deepEqual(use, preToolUse("ask", why));
  });

  it("approves nothing where its key is not good", async () => {
    const server = await serve(newFolder(), { PARLEY_OPEN: "false" });
    const { systemMessage } = await said(hook(server.url, PERMISSION_REQUEST));
    assert.match(String(systemMessage), /refused the request: A valid bearer key is required\.$/);
    server.child.kill("SIGTERM");
  });

  it("finds its request again when the server was killed in the middle, and gets the decision", async () => {
    const dataDir = newFolder();
    const first = await serve(dataDir);
    const asking = hook(first.url, PERMISSION_REQUEST);
    const store = { PARLEY_DATA_DIR: dataDir };
    const keyArgs = ["keys", "create", "phone", "--scope", "answer", "--person", "1"];
    const headers = { authorization: `Bearer ${(await parley(keyArgs, store)).out.trim()}` };
    const inbox = async (url: string): Promise<{ id: string }[]> =>
      ((await (await fetch(`${url}/people/me/asks`, { headers })).json()) as { asks: { id: string }[] }).asks;
    await until(async () => (await inbox(first.url)).length === 1);
    first.child.kill("SIGKILL");
    await first.ended;

    const second = await serve(dataDir, {}, "--port", new URL(first.url).port);
    const [ask] = await inbox(second.url);
    const place = `${second.url}/people/me/asks/${ask?.id ?? ""}`;
    const { digest } = (await (await fetch(place, { headers })).json()) as { digest: string };
    const body = JSON.stringify({ approved: true, digest });
    const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body };
    assert.equal((await fetch(`${place}/decision`, init)).status, 200);
    assert.deepEqual(await said(asking), allowed(PERMISSION_REQUEST.tool_input));
    second.child.kill("SIGTERM");
  });
});
