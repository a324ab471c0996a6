#!/usr/bin/env bash
# A client that negotiates the revision starts a program twice for one connection.
#
# Seen with @modelcontextprotocol/client 2.4.0, Node 24.21: with versionNegotiation { mode: "auto" } over stdio a program
# that speaks MCP 2025-11-25 alone is started once to be probed by server/discover, and a second time for initialize. A
# program that takes a lock, or counts its starts, meets itself.
#
# Output seen:
#   start 1: server/discover
#   start 2: initialize
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"type":"module","private":true}' > package.json
npm install --silent --no-audit --no-fund @modelcontextprotocol/client@2.4.0

cat > server.mjs <<'PROGRAM'
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const starts = process.argv[2];
let isFirst = true;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (isFirst) appendFileSync(starts, `${method}\n`);
  isFirst = false;
  if (id === undefined) continue;
  const { protocolVersion } = params ?? {};
  const opened = { protocolVersion, capabilities: {}, serverInfo: { name: "counted", version: "1.0.0" } };
  const outcome =
    method === "initialize" ? { result: opened } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
}
PROGRAM

cat > program.mjs <<'PROGRAM'
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const client = new Client({ name: "one", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StdioClientTransport({ command: process.execPath, args: ["server.mjs", "starts"] }));
await client.close();
PROGRAM

node program.mjs
awk '{ print "start " NR ": " $0 }' starts | sort > seen
sort > wanted <<'WANTED'
start 1: server/discover
start 2: initialize
WANTED
diff wanted seen && echo "As described."
