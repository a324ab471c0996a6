#!/usr/bin/env bash
# In Claude Code the first PermissionRequest hook to answer decides, while of PreToolUse hooks a late deny still counts.
#
# Seen with @anthropic-ai/claude-code 2.1.332, Node 24.21: two hooks of one event start at once; one allows at once, the
# other denies after the first has answered. As PermissionRequest hooks the command runs, and the deny is not waited
# for. As PreToolUse hooks the same two keep it from running.
#
# Output seen:
#   PermissionRequest, allow first, then deny: ran
#   PermissionRequest, deny first, then allow: did not run
#   PreToolUse, allow first, then deny: did not run
#   PreToolUse, deny first, then allow: did not run
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"type":"module","private":true}' > package.json
npm install --silent --no-audit --no-fund @anthropic-ai/claude-code@2.1.332
node node_modules/@anthropic-ai/claude-code/install.cjs > /dev/null 2>&1 || true

cat > program.mjs <<'PROGRAM'
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

/** A model that wants to run one command, and is done after its result. */
const model = createServer(async (request, response) => {
  let text = "";
  for await (const part of request) text += part;
  if (request.method !== "POST" || !request.url.includes("/messages")) return response.writeHead(404).end("{}");
  const { messages, tools = [], model: name, stream } = JSON.parse(text);
  const isOver = tools.length === 0 || JSON.stringify(messages).includes('"tool_result"');
  const input = { command: "touch ran", description: "Run it" };
  const block = isOver ? { type: "text", text: "Done." } : { type: "tool_use", id: "toolu_1", name: "Bash", input };
  const stop = { stop_reason: isOver ? "end_turn" : "tool_use", stop_sequence: null };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: name, usage };
  if (!stream) {
    const body = JSON.stringify({ ...message, ...stop, content: [block] });
    return response.writeHead(200, { "content-type": "application/json" }).end(body);
  }
  const delta = isOver ? { type: "text_delta", text: block.text } : { type: "input_json_delta", partial_json: JSON.stringify(input) };
  const content_block = isOver ? { type: "text", text: "" } : { ...block, input: {} };
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage },
    { type: "message_stop" },
  ])
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
});
await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));

const answer = (event, decision) =>
  event === "PreToolUse" ? { permissionDecision: decision, permissionDecisionReason: "tried" } : { decision: { behavior: decision } };

async function run(event, first, second) {
  const home = mkdtempSync(join(process.cwd(), "home-"));
  mkdirSync(join(home, ".claude"));
  const says = (decision) => `printf '%s' '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...answer(event, decision) } })}'`;
  // The second answers once the first has, with half a second for Claude Code to read that.
  const commands = [
    `while [ ! -e '${home}/answered' ]; do sleep 0.1; done; sleep 0.5; ${says(second)}`,
    `${says(first)}; touch '${home}/answered'`,
  ];
  const groups = commands.map((command) => ({ matcher: "*", hooks: [{ type: "command", command, timeout: 30 }] }));
  writeFileSync(join(home, ".claude/settings.json"), JSON.stringify({ hooks: { [event]: groups } }));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.address().port}`,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  };
  const child = spawn(join(process.cwd(), "node_modules/.bin/claude"), ["-p", "Run it", "--model", "claude-sonnet-4-5"], { cwd: home, env, stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  console.log(`${event}, ${first} first, then ${second}: ${existsSync(join(home, "ran")) ? "ran" : "did not run"}`);
}

for (const event of ["PermissionRequest", "PreToolUse"]) {
  await run(event, "allow", "deny");
  await run(event, "deny", "allow");
}
process.exit(0);
PROGRAM

node program.mjs | sort -u > seen
sort -u > wanted <<'WANTED'
PermissionRequest, allow first, then deny: ran
PermissionRequest, deny first, then allow: did not run
PreToolUse, allow first, then deny: did not run
PreToolUse, deny first, then allow: did not run
WANTED
diff wanted seen && echo "As described."
