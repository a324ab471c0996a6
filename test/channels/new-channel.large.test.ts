import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { programOf, touchedIn, treeWith } from "../support/changed-tree.ts";
import { until } from "../support/contract.ts";
import { post } from "../support/program.ts";
import { openReceiver } from "./webhook-receiver.ts";

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

const copy = treeWith({
  files: FOLDER,
  lines: [
    {
      file: "src/channels/kinds.ts",
      at: `import { email } from "./email/kind.ts";\n`,
      before: `import { board } from "./board/kind.ts";\n`,
    },
    { file: "src/channels/kinds.ts", at: "  webhook,\n}", before: "  board,\n" },
    {
      file: "src/config/channels.ts",
      at: "export const CHANNEL_SETTINGS = {\n",
      behind: `  board: z.object({
    url: setting(z.string().refine(isLoopbackUrl, { error: LOOPBACK_WORDS }).optional(), "Where the board listens."),
  }),
`,
    },
    {
      file: "src/server/channels.ts",
      at: "  if (config.email.smtpUrl) {\n",
      before: `  if (config.board.url) opened.push((await import("../channels/board/board.ts")).boardChannel(config.board.url, fetch) as Channel);\n`,
    },
  ],
});

describe("a new channel", () => {
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
    const program = programOf(copy, { PARLEY_BOARD_URL: `${receiver.origin}/` });
    const admin = await program.headersOf("ops", "--scope", "admin");
    const agent = await program.headersOf("shop-bot", "--scope", "agent");
    const { url, stop } = await program.serve();

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

    const ana = await program.headersOf("ana", "--scope", "answer", "--person", id);
    await post(url, `${A2H}/agent/function_calls/c-1/respond`, { approved: true }, ana);
    const second = await until(() => Promise.resolve(receiver.arrived[1]));
    assert.deepEqual(JSON.parse(second.text), { desk: "desk-4", says: "approved by Ana Ruiz." });
    const listed = (await (await fetch(`${url}${A2H}/channels`, { headers: agent })).json()) as { channels: object };
    assert.ok("board" in listed.channels);
    await stop();
  });
});
