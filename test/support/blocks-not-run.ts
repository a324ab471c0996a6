import type { Block } from "./documents.ts";

/** Blocks that a test cannot run as they stand, by how they begin, and why not. */
export const NOT_RUN: readonly { file: string; begins: string; because: string }[] = [
  {
    file: "sdk/README.md",
    begins: 'import { Inbox } from "@parley/sdk/inbox"',
    because: "it needs the key of a person who is asked; test/clients/sdk-inbox.test.ts does what it says",
  },
  {
    file: "sdk/README.md",
    begins: 'import { Tasks } from "@parley/sdk/tasks"',
    because: "it needs a repository and a coding agent; test/clients/sdk-tasks.test.ts does what it says",
  },
  {
    file: "sdk/README.md",
    begins: 'import { Admin } from "@parley/sdk/admin"',
    because: "it needs an admin's key; test/clients/sdk-admin.test.ts does what it says",
  },
  ...["README.md", "docs/how-to/install.md"].map((file) => ({
    file,
    begins: "npm start",
    because:
      "it installs, builds and serves at the usual address until it is stopped; this test itself runs on such a server",
  })),
  {
    file: "README.md",
    begins: "npm test",
    because: "test/project/readme.large.test.ts tries it, and npm start, in a fresh clone",
  },
  {
    file: "README.md",
    begins: "npx parley connect",
    because: "it connects the agents of a computer; test/project/tutorials.large.test.ts walks through it",
  },
  {
    file: "docs/how-to/install.md",
    begins: "PARLEY_HOST=0.0.0.0",
    because:
      "it serves whoever reaches this machine, under a public name; test/cli/cli.large.test.ts starts one on all addresses",
  },
  {
    file: "docs/how-to/operate.md",
    begins: "parley keys rotate-installation --dry-run",
    because: "it stops the server that the other blocks need; test/key-rotation does what it says",
  },
  {
    file: "docs/how-to/operate.md",
    begins: "ask.example.com {",
    because: "it is Caddy's configuration; test/project/deploy-proxies.large.test.ts runs the server behind it",
  },
  {
    file: "docs/how-to/operate.md",
    begins: "server {",
    because: "it is nginx's configuration; test/project/deploy-proxies.large.test.ts runs the server behind it",
  },
  {
    file: "docs/how-to/operate.md",
    begins: "# Traefik",
    because: "it is Traefik's configuration; test/protocols/http/reach.test.ts sends what such a proxy sends",
  },
  {
    file: "docs/how-to/operate.md",
    begins: "; pgbouncer.ini",
    because:
      "it is PgBouncer's configuration, which no npm package brings; its page says with which versions it was tried",
  },
  {
    file: "docs/how-to/frameworks.md",
    begins: 'import { Agent } from "@mastra/core/agent"',
    because: "it needs Mastra, which brings 150 packages along; test/agents/mastra.test.ts runs it where they are",
  },
  {
    file: "docs/how-to/frameworks.md",
    begins:
      'import type { BaseChatModel } from "@langchain/core/language_models/chat_models";\nimport type { StructuredTool }',
    because: "it needs LangChain's agents; test/agents/langchain.test.ts runs it where they are",
  },
  {
    file: "docs/how-to/claude-code.md",
    begins: 'claude -p "Release version 1.4.2"',
    because: "it needs Claude Code; test/agents/permissions.test.ts runs it where that is, and a person decides",
  },
  {
    file: "docs/how-to/mcp.md",
    begins: "[mcp_servers.parley]",
    because:
      "it is Codex's configuration; test/cli/mcp-install.large.test.ts compares it, and test/agents/mcp-install.test.ts has Codex read it",
  },
  {
    file: "docs/how-to/gate.md",
    begins: "parley gate --as files",
    because:
      "it fetches an MCP server from npm; test/gate/program.large.test.ts stands a gate in front of the same one",
  },
  {
    file: "docs/how-to/phones.md",
    begins: "support (a program) asks:\n> Refund order A-1007",
    because: "it is a text message as people see it",
  },
  {
    file: "docs/how-to/operate.md",
    begins: "useradd --system",
    because:
      "it changes the machine; test/project/deploy-systemd.large.test.ts has systemd verify the units, and start a server",
  },
  {
    file: "docs/how-to/operate.md",
    begins: "PARLEY_MOVE_TO=",
    because: "it needs a PostgreSQL of that name; test/backup/export.large.test.ts moves a store to one and back",
  },
  ...[
    'curl -H "Authorization: Bearer $PARLEY_KEY" https://parley.example.com',
    "parley verify https://parley.example.com",
    "parley verify receipt.jws",
  ].map((begins) => ({
    file: "docs/how-to/receipts.md",
    begins,
    because:
      "it names a receipt that is not there; test/cli/verify.test.ts and test/requests/receipts.large.test.ts run it",
  })),
  {
    file: "docs/how-to/worker.md",
    begins: "export PARLEY_URL=https://parley.example.com",
    because: "it works for a server under a public name until it is stopped; test/worker/work.large.test.ts runs it",
  },
];

/** Returns why test/project/docs.large.test.ts does not run a block; nothing of one that it runs. */
export const reasonFor = ({ file, text }: Block): string | undefined =>
  NOT_RUN.find((one) => one.file === file && text.startsWith(one.begins))?.because;
