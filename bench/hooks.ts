/**
 * Measures what a permission prompt of Claude Code costs that a rule allows: by `POST /hooks/claude`, and by the command
 * `parley hook claude`, which starts a process. Both ask one server, in turns. Writes HOOKS.md beside this file.
 *
 *     npm run bench:hooks             200 prompts by HTTP and 40 by the command, about two minutes
 *     npm run bench:hooks -- 1000     so many by HTTP, and a fifth by the command
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { median, percentile } from "./load.ts";
import { lookAtMachine } from "./machine.ts";
import { startParley } from "./servers.ts";

/** The longest that half of the prompts by HTTP may take. */
const WANTED_MS = 15;
const BY_HTTP_FOR_EACH = 5;
const WARM = 20;
const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const RULE = "version: 1\nrules:\n  - id: bash\n    when: { fn: Bash }\n    decision: ALLOW\n";

const count = Number(process.argv[2] ?? 200);
const folder = mkdtempSync(join(tmpdir(), "parley-bench-hooks-"));
const machine = lookAtMachine(folder);
writeFileSync(join(folder, "policy.yaml"), RULE);
const server = await startParley({ dataDir: folder });
try {
  const [http, command]: [number[], number[]] = [[], []];
  for (let n = 0; n < WARM; n += 1) await byHttp(-1 - n);
  await byCommand(-1);
  for (let n = 0; n < count; n += 1) {
    http.push(await timed(() => byHttp(n)));
    if (n % BY_HTTP_FOR_EACH === 0) command.push(await timed(() => byCommand(n)));
  }
  await report(http, command);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function promptOf(n: number): string {
  return JSON.stringify({
    hook_event_name: "PermissionRequest",
    session_id: "bench",
    tool_name: "Bash",
    tool_input: { command: `echo ${n}`, description: "Say the number" },
  });
}

async function byHttp(n: number): Promise<string> {
  const headers = { "content-type": "application/json" };
  return (await fetch(`${server.url}/hooks/claude`, { method: "POST", headers, body: promptOf(n) })).text();
}

/** Starts the command as Claude Code does, by a shell. */
async function byCommand(n: number): Promise<string> {
  const line = `"${process.execPath}" "${MAIN}" hook claude --url ${server.url}`;
  const child = spawn("sh", ["-c", line], { stdio: ["pipe", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stdin.end(promptOf(n));
  await once(child, "close");
  return out;
}

/** Returns how long a prompt took. @throws {Error} where it was not allowed */
async function timed(ask: () => Promise<string>): Promise<number> {
  const start = performance.now();
  const said = await ask();
  const ms = performance.now() - start;
  if (!said.includes('"behavior":"allow"')) throw new Error(`a prompt was not allowed: ${said}`);
  return ms;
}

async function report(http: number[], command: number[]): Promise<void> {
  const cells = (ms: number[]) => [median(ms), percentile(ms, 99)].map((one) => one.toFixed(1));
  const ratio = (p: (ms: number[]) => number) => (p(command) / p(http)).toFixed(0);
  const rows = [
    ["http", http.length, ...cells(http)],
    ["command", command.length, ...cells(command)],
    ["command / http", "", ratio(median), ratio((ms) => percentile(ms, 99))],
  ];
  const text = `# The cost of a permission prompt

${machine.date}, \`npm run bench:hooks\`. ${machine.describes} SQLite.

A prompt of Claude Code that a rule of the policy allows, from its sending to the decision, by a hook of type \`http\` and by the command \`parley hook claude\`, in turns against one server. Each is a stored request with a signed receipt, which the hook checks. Wanted: half of those by \`http\` within ${WANTED_MS} ms.

| hook | prompts | p50, ms | p99, ms |
| --- | ---: | ---: | ---: |
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}

The machine was ${machine.load()}.
`;
  const page = await format(text, { parser: "markdown" });
  writeFileSync(new URL("HOOKS.md", import.meta.url), page);
  console.log(page);
  if (median(http) > WANTED_MS) process.exitCode = 1;
}
