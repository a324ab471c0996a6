import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { until } from "../support/contract.ts";
import { environment, newFolder, post } from "../support/program.ts";
import { reservePort } from "../support/ports.ts";
import { openReceiver } from "./webhook-receiver.ts";

const run = promisify(execFile);
const TREE = join(import.meta.dirname, "../..");
const A2H = "/humanlayer/v1";

/** The folder of a channel to a board in an office: its facts, and how it sends. */
const FOLDER: Readonly<Record<string, string>> = {
  "src/channels/board/kind.ts": `import type { ChannelKind } from "../kind.ts";

export const board = {
  title: "Board",
  identity: null,
  fields: { desk: { type: "string", description: "The desk of the person to ask.", required: true } },
  address: { min: 1, max: 20, read: (desk) => desk, says: "must be a desk" },
  remedy: "board.url of the settings",
} as const satisfies ChannelKind;
`,
  "src/channels/board/board.ts": `import { type Channel, DeliveryError } from "../channel.ts";
import { board } from "./kind.ts";

interface BoardTarget {
  via: "board";
  to: string;
  settings: Readonly<Record<string, unknown>>;
}

export function boardChannel(url: string, fetch: typeof globalThis.fetch): Channel<BoardTarget> {
  async function show(shown: object, signal: AbortSignal): Promise<void> {
    const headers = { "content-type": "application/json" };
    const reply = await fetch(url, { method: "POST", headers, body: JSON.stringify(shown), signal });
    if (!reply.ok) throw new DeliveryError("the board is busy", { retry: true });
  }
  return {
    name: "board",
    via: "board",
    fields: board.fields,
    wholeLimit: 0,
    parse({ desk }) {
      if (typeof desk === "string") return { target: { via: "board", to: desk, settings: {} } };
      return { errors: [{ path: "/board/desk", code: "type", message: "must be a string" }] };
    },
    async send({ target, view, link }, signal) {
      await show({ desk: target.to, title: view.title, link }, signal);
      return { externalIds: {} };
    },
    close: ({ to }, _sent, { says }, signal) => show({ desk: to, says }, signal),
  };
}
`,
};

/** The lines that are added to files of the tree, each before or behind a line of theirs. */
const LINES: readonly { file: string; at: string; lines: (at: string) => string }[] = [
  {
    file: "src/channels/kinds.ts",
    at: `import { email } from "./email/kind.ts";\n`,
    lines: (at) => `import { board } from "./board/kind.ts";\n${at}`,
  },
  { file: "src/channels/kinds.ts", at: "  webhook,\n}", lines: (at) => `  board,\n${at}` },
  {
    file: "src/config/channels.ts",
    at: "export const CHANNEL_SETTINGS = {\n",
    lines: (at) => `${at}  board: z.object({
    url: setting(z.string().refine(isLoopbackUrl, { error: LOOPBACK_WORDS }).optional(), "Where the board listens."),
  }),
`,
  },
  {
    file: "src/server/channels.ts",
    at: "  if (config.email.smtpUrl) {\n",
    lines: (at) =>
      `  if (config.board.url) opened.push((await import("../channels/board/board.ts")).boardChannel(config.board.url, fetch) as Channel);\n${at}`,
  },
];

/** Returns a copy of the tree that has the channel. */
function treeWithBoard(): string {
  const copy = newFolder();
  mkdirSync(copy, { recursive: true });
  cpSync(join(TREE, "src"), join(copy, "src"), { recursive: true });
  for (const name of [
    "package.json",
    "tsconfig.json",
    "node_modules",
    "sdk",
    "policy.assignment.yaml",
    "prompts",
    "web",
  ])
    symlinkSync(join(TREE, name), join(copy, name));
  for (const { file, at, lines } of LINES) {
    const text = readFileSync(join(copy, file), "utf8");
    assert.equal(text.split(at).length, 2, `${file} has one ${at}`);
    writeFileSync(join(copy, file), text.replace(at, lines));
  }
  for (const [file, text] of Object.entries(FOLDER)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), text);
  }
  return copy;
}

/** Returns the files of a copy that the tree has not, or has with other text. */
function touchedIn(copy: string): string[] {
  const textOf = (root: string, file: string) => {
    try {
      return readFileSync(join(root, file), "utf8");
    } catch {
      return null;
    }
  };
  return globSync("src/**/*.ts", { cwd: copy })
    .filter((file) => textOf(copy, file) !== textOf(TREE, file))
    .sort();
}

describe("a new channel", () => {
  const copy = treeWithBoard();

  it("is a folder, its settings, its facts in the list of kinds, and its opening", () => {
    assert.deepEqual(touchedIn(copy), [
      "src/channels/board/board.ts",
      "src/channels/board/kind.ts",
      "src/channels/kinds.ts",
      "src/config/channels.ts",
      "src/server/channels.ts",
    ]);
  });

  it("reaches a person, is told of the decision, and is listed with the others", async () => {
    await using receiver = await openReceiver();
    const dataDir = newFolder();
    const env = environment({ PARLEY_DATA_DIR: dataDir, PARLEY_BOARD_URL: `${receiver.origin}/` });
    const parley = async (...argv: string[]) =>
      (await run(process.execPath, [join(copy, "src/main.ts"), ...argv], { env })).stdout.trim();
    const keyOf = async (...argv: string[]) => ({ authorization: `Bearer ${await parley("keys", "create", ...argv)}` });
    const admin = await keyOf("ops", "--scope", "admin");
    const agent = await keyOf("shop-bot", "--scope", "agent");
    const port = String(await reservePort());
    const server = spawn(process.execPath, [join(copy, "src/main.ts"), "serve", "--port", port], { env });
    after(() => server.kill("SIGKILL"));
    const url = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok || undefined);

    const channels = [{ board: { desk: "desk-4" } }];
    const enrolled = await post(
      url,
      `${A2H}/humans`,
      { name: "Ana Ruiz", prioritizedContactChannels: channels },
      admin,
    );
    const { id } = (await enrolled.json()) as { id: string };
    assert.equal(enrolled.status, 201);
    const spec = { fn: "refund", kwargs: { order: 7 }, channel: { human: { id } } };
    const asked = await post(url, `${A2H}/function_calls`, { run_id: "r", call_id: "c-1", spec }, agent);
    assert.equal(asked.status, 200, await asked.text());
    const first = await until(() => Promise.resolve(receiver.arrived[0]));
    const shown = JSON.parse(first.text) as { desk: string; title: string; link: string };
    assert.equal(shown.desk, "desk-4");
    assert.match(shown.title, /refund/);
    assert.ok(shown.link.startsWith(`${url}/`), shown.link);

    const ana = await keyOf("ana", "--scope", "answer", "--person", id);
    await post(url, `${A2H}/agent/function_calls/c-1/respond`, { approved: true }, ana);
    const second = await until(() => Promise.resolve(receiver.arrived[1]));
    assert.deepEqual(JSON.parse(second.text), { desk: "desk-4", says: "approved by Ana Ruiz." });
    const listed = (await (await fetch(`${url}${A2H}/channels`, { headers: agent })).json()) as { channels: object };
    assert.ok("board" in listed.channels);
    server.kill("SIGTERM");
    await once(server, "close");
  });
});
