import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { programOf, touchedIn, treeWith } from "../support/changed-tree.ts";
import { until } from "../support/contract.ts";
import { post } from "../support/program.ts";

/** The door of a protocol that asks one person for a yes or a no. */
const HELLO = `import { z } from "zod";
import { canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { Refusal } from "../../refusals.ts";
import { resolveRecipient } from "../../access/resolve-recipient.ts";
import { audienceOfRecipient } from "../../requests/create/audience-of-recipient.ts";
import { createRequest } from "../../requests/create/create-request.ts";
import type { Request } from "../../requests/model/request.ts";
import { readByRef } from "../../requests/read/read-request.ts";
import { parseBody } from "../http/body.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { agentPrincipal } from "../http/principals.ts";

const NewAsk = z.object({ to: z.string().min(1), words: z.string().min(1) });
const AskReply = z.object({ id: z.string(), state: z.string(), answer: z.string().nullable() });
const options = ["yes", "no"].map((name) => ({ name, interactive: false }));

export function hello(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;
  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));

    app.post(
      "/hello/asks",
      {
        config: { takesBody: true },
        schema: { tags: ["hello"], summary: "Ask", operationId: "askHello", body: NewAsk, response: { 200: AskReply } },
      },
      async (http) => {
        const asker = await agentPrincipal(door, http);
        const { to, words } = http.body as z.output<typeof NewAsk>;
        const recipient = await resolveRecipient(ctx, to);
        if (recipient.kind === "nobody" || recipient.kind === "several") throw new Refusal("human_unknown");
        const { request } = await createRequest(ctx, {
          door: "hello",
          asker,
          ref: \`hello:\${ctx.newId("h")}\`,
          title: words,
          words,
          audience: audienceOfRecipient(recipient),
          timeoutSeconds: 3600,
          sameHash: sha256Digest(canonicalExact({ to, words })),
          form: { kind: "reply", options },
          digest: null,
          wire: {},
        });
        return shown(request);
      },
    );

    app.get<{ Params: { id: string } }>(
      "/hello/asks/:id",
      { schema: { tags: ["hello"], summary: "Read", operationId: "readHello", response: { 200: AskReply } } },
      async (http) => {
        const asker = await agentPrincipal(door, http);
        return shown(await readByRef(ctx, asker, \`hello:\${http.params.id}\`));
      },
    );
  };
}

function shown({ ref, state, outcome }: Request): z.output<typeof AskReply> {
  return { id: ref.slice("hello:".length), state, answer: outcome?.option ?? outcome?.text ?? null };
}
`;

const DOORS = "src/server/doors.ts";
const copy = treeWith({
  files: { "src/protocols/hello/hello.ts": HELLO },
  lines: [
    {
      file: DOORS,
      at: `import { agentPrompts } from`,
      before: `import { hello } from "../protocols/hello/hello.ts";\n`,
    },
    { file: DOORS, at: `  ({ door }) => inboxRoutes(door),\n`, before: `  ({ door }) => hello(door),\n` },
  ],
});

describe("a new protocol", () => {
  it("is a folder, and an import and an entry in the list of doors", () => {
    assert.deepEqual(touchedIn(copy), ["src/protocols/hello/hello.ts", DOORS]);
  });

  it("asks a person, who answers in the inbox, and returns the decision to its agent alone", async () => {
    const program = programOf(copy);
    const { url, stop } = await program.serve();
    const agent = await program.headersOf("shop-bot", "--scope", "agent");
    const other = await program.headersOf("other-bot", "--scope", "agent");
    const ana = await program.headersOf("ana", "--scope", "answer", "--person", "1");
    const read = async (path: string, headers: Record<string, string>) => {
      const reply = await fetch(`${url}${path}`, { headers });
      return { status: reply.status, body: await reply.json() };
    };

    assert.equal((await post(url, "/hello/asks", { to: "nobody", words: "Ship it?" }, agent)).status, 400);
    const asked = await post(url, "/hello/asks", { to: "1", words: "Ship it?" }, agent);
    const ask = (await asked.json()) as { id: string };
    assert.deepEqual(ask, { id: ask.id, state: "open", answer: null });

    const inbox = await until(async () => {
      const { asks } = (await read("/people/me/asks", ana)).body as { asks: { id: string; title: string }[] };
      return asks.length > 0 ? asks : undefined;
    });
    assert.deepEqual([inbox.length, inbox[0]?.title], [1, "Ship it?"]);
    const answered = await post(url, `/people/me/asks/${inbox[0]?.id}/decision`, { option: "yes" }, ana);
    assert.equal(answered.status, 200, await answered.text());
    assert.deepEqual((await read(`/hello/asks/${ask.id}`, agent)).body, { ...ask, state: "answered", answer: "yes" });
    assert.equal((await read(`/hello/asks/${ask.id}`, other)).status, 404);

    const { paths } = (await read("/openapi.json", {})).body as { paths: Record<string, object> };
    assert.match(JSON.stringify([paths["/hello/asks"], paths["/hello/asks/{id}"]]), /"askHello".*"readHello"/);
    await stop();
  });
});
