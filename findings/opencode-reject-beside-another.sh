#!/usr/bin/env bash
# opencode ends a turn without giving its model the reason of a rejection, where another permission waits.
#
# Seen with opencode-ai 1.18.33 (opencode serve), Node 24.21: a model makes two calls in one turn, and both ask. A
# rejection with a message of the first one rejects the second one as well. The turn ends, and the model gets no further
# request. The message stands in the session, and the model reads it only once somebody sends another prompt.
#
# Output seen:
#   alone: 0 prompts wait after the rejection, the model had 2 turns and read the reason
#   beside another: 0 prompts wait after the rejection, the model had 1 turn and did not read the reason
#   beside another, after a further prompt: the model had 2 turns and read the reason
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"type":"module","private":true}' > package.json
npm install --silent --no-audit --no-fund opencode-ai@1.18.33

cat > program.mjs <<'PROGRAM'
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

let calls = 0;
let asked = [];
const model = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const { tools, messages } = JSON.parse(text);
  const isFirst = tools?.length > 0 && !messages.some(({ role }) => role === "tool");
  if (tools?.length > 0) asked.push(JSON.stringify(messages));
  const callOf = (_, index) => {
    const args = JSON.stringify({ command: `echo ${index}`, description: "Say a number" });
    return { index, id: `call_${index}`, type: "function", function: { name: "bash", arguments: args } };
  };
  const tool_calls = Array.from({ length: calls }, callOf);
  const delta = { role: "assistant", ...(isFirst ? { tool_calls } : { content: "Done." }) };
  const chunk = (delta, finish_reason) => {
    const choices = [{ index: 0, delta, finish_reason }];
    return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${chunk(delta, null)}${chunk({}, isFirst ? "tool_calls" : "stop")}data: [DONE]\n\n`);
});
model.listen(0, "127.0.0.1");
await once(model, "listening");

const home = `${process.cwd()}/home`;
mkdirSync(`${home}/.config/opencode`, { recursive: true });
const options = { baseURL: `http://127.0.0.1:${model.address().port}/v1`, apiKey: "x" };
const models = { m: { name: "m", tool_call: true, limit: { context: 100000, output: 1000 } } };
const provider = { local: { npm: "@ai-sdk/openai-compatible", name: "local", options, models } };
const quiet = { autoupdate: false, share: "disabled" };
const settings = { model: "local/m", small_model: "local/m", provider, ...quiet, permission: { bash: "ask" } };
writeFileSync(`${home}/.config/opencode/opencode.json`, JSON.stringify(settings));
const env = { PATH: process.env.PATH, HOME: home, OPENCODE_DISABLE_MODELS_FETCH: "1" };
const program = `${process.cwd()}/node_modules/.bin/opencode`;
const opencode = spawn(program, ["serve", "--port", "0"], { cwd: home, env, stdio: ["ignore", "pipe", "ignore"] });
let out = "";
opencode.stdout.on("data", (text) => (out += text));
async function until(look) {
  for (;;) {
    const value = await look();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const url = await until(() => /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0]);
async function call(method, path, body) {
  const headers = { "content-type": "application/json" };
  const reply = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await reply.text();
  return text && JSON.parse(text);
}
const isIdle = async (id) => {
  const { time } = (await call("GET", `/session/${id}/message`)).at(-1).info;
  return time.completed && ((await call("GET", "/session/status"))[id]?.type ?? "idle") === "idle";
};
const seen = () => {
  const hasRead = asked.some((messages) => messages.includes("use staging"));
  return `the model had ${asked.length} turn${asked.length === 1 ? "" : "s"} and ${hasRead ? "read" : "did not read"} the reason`;
};

async function rejected(count) {
  [calls, asked] = [count, []];
  const { id } = await call("POST", "/session", {});
  await call("POST", `/session/${id}/prompt_async`, { parts: [{ type: "text", text: "Begin." }] });
  const prompts = await until(async () => {
    const waiting = await call("GET", "/permission");
    return waiting.length === count && waiting;
  });
  await call("POST", `/permission/${prompts[0].id}/reply`, { reply: "reject", message: "use staging" });
  await until(() => isIdle(id));
  const left = (await call("GET", "/permission")).length;
  return { id, text: `${left} prompts wait after the rejection, ${seen()}` };
}

console.log(`alone: ${(await rejected(1)).text}`);
const { id, text } = await rejected(2);
console.log(`beside another: ${text}`);
await call("POST", `/session/${id}/prompt_async`, { parts: [{ type: "text", text: "Go on." }] });
await until(() => asked.length === 2);
console.log(`beside another, after a further prompt: ${seen()}`);
opencode.kill("SIGKILL");
model.closeAllConnections();
model.close();
PROGRAM

node program.mjs | sort > seen
sort > wanted <<'WANTED'
alone: 0 prompts wait after the rejection, the model had 2 turns and read the reason
beside another: 0 prompts wait after the rejection, the model had 1 turn and did not read the reason
beside another, after a further prompt: the model had 2 turns and read the reason
WANTED
diff wanted seen && echo "As described."
