#!/usr/bin/env bash
# Copilot CLI runs its user's hook files from the last name to the first, and the last answer overrides the others.
#
# Seen with @github/copilot 1.0.102, Node 24.21: each file of ~/.copilot/hooks has a permissionRequest hook. b.json runs
# before a.json, and the allow of a.json overrides the deny of b.json, so that the command runs. With the answers the
# other way round it does not run. Of preToolUse hooks, a deny ends the matter: the other file is not asked.
#
# Output seen:
#   permissionRequest, a.json allow, b.json deny: asked b a, ran
#   permissionRequest, a.json deny, b.json allow: asked b a, did not run
#   preToolUse, a.json allow, b.json deny: asked b, did not run
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"type":"module","private":true}' > package.json
npm install --silent --no-audit --no-fund @github/copilot@1.0.102

cat > program.mjs <<'PROGRAM'
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

/** A model that wants to run one command, and is done after its result. */
const model = createServer(async (request, response) => {
  let text = "";
  for await (const part of request) text += part;
  if (request.method !== "POST") return response.writeHead(404).end("{}");
  const { messages, tools = [], stream } = JSON.parse(text);
  const isOver = tools.length === 0 || messages.some(({ role }) => role === "tool");
  const call = { name: "bash", arguments: JSON.stringify({ command: "touch ran", description: "Run it" }) };
  const message = isOver
    ? { role: "assistant", content: "Done." }
    : { role: "assistant", content: null, tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] };
  const reason = isOver ? "stop" : "tool_calls";
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const head = { id: "1", created: 1, model: "m" };
  if (!stream) {
    const body = { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: reason }], usage };
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  }
  const chunk = (delta, finish_reason) => ({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const one of [chunk(message, null), { ...chunk({}, reason), usage }]) response.write(`data: ${JSON.stringify(one)}\n\n`);
  response.end("data: [DONE]\n\n");
});
await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));

async function run(event, says) {
  const home = mkdtempSync(join(process.cwd(), "home-"));
  mkdirSync(join(home, ".copilot/hooks"), { recursive: true });
  writeFileSync(join(home, "asked"), "");
  for (const name of ["a", "b"]) {
    const answer = event === "preToolUse" ? { permissionDecision: says[name], permissionDecisionReason: "tried" } : { behavior: says[name] };
    const bash = `echo ${name} >> '${home}/asked'; printf '%s' '${JSON.stringify(answer)}'`;
    const file = { version: 1, hooks: { [event]: [{ type: "command", bash, timeoutSec: 30 }] } };
    writeFileSync(join(home, `.copilot/hooks/${name}.json`), JSON.stringify(file));
  }
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
    COPILOT_MODEL: "m",
    COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${model.address().port}/v1`,
  };
  const child = spawn(join(process.cwd(), "node_modules/.bin/copilot"), ["-p", "Run it", "--allow-all-tools"], { cwd: home, env, stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  const asked = readFileSync(join(home, "asked"), "utf8").trim().split("\n").join(" ");
  const end = existsSync(join(home, "ran")) ? "ran" : "did not run";
  console.log(`${event}, a.json ${says.a}, b.json ${says.b}: asked ${asked}, ${end}`);
}

await run("permissionRequest", { a: "allow", b: "deny" });
await run("permissionRequest", { a: "deny", b: "allow" });
await run("preToolUse", { a: "allow", b: "deny" });
process.exit(0);
PROGRAM

node program.mjs | sort -u > seen
sort -u > wanted <<'WANTED'
permissionRequest, a.json allow, b.json deny: asked b a, ran
permissionRequest, a.json deny, b.json allow: asked b a, did not run
preToolUse, a.json allow, b.json deny: asked b, did not run
WANTED
diff wanted seen && echo "As described."
