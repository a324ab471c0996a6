import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { CLIENTS, over, type Shown, type Transport } from "../../support/mcp-official.ts";
import { newFolder, post, type Run, serve, stop } from "../../support/program.ts";

const WAIT = "wait_for_human_responses";
const PEOPLE_TAKE_S = Number(process.env["PEOPLE_TAKE_S"] ?? 420);
const isSettled = ({ structured }: Shown): boolean => structured["settled"] === true;

// These tests measure the clients' own timeout, a minute by default. The held clock does not move it.
describe(`a person who takes ${PEOPLE_TAKE_S} seconds`, { concurrency: true }, () => {
  let server: Run & { url: string };
  before(async () => {
    server = await serve(newFolder());
  });
  after(() => stop(server));

  for (const by of Object.keys(over) as Transport[]) {
    for (const [name, { open }] of Object.entries(CLIENTS)) {
      /** Asks, and has somebody answer in time; returns what a wait needs. */
      const ask = async () => {
        const client = await open({ url: server.url }, by);
        const prompt = `How patient is a client, asks ${newFolder()}?`;
        const { structured } = await client.call("ask_human", { question: prompt, min_responses: 1 });
        const id = structured["question_id"];
        const answering = pause(PEOPLE_TAKE_S * 1000).then(() =>
          post(server.url, "/human/responses", { question_id: id, answer: "At last" }),
        );
        return { client, id, answering };
      };

      it(`is waited for by ${name} over ${over[by]} in one call, where progress counts`, async () => {
        const { client, id, answering } = await ask();
        const options = { onprogress: () => undefined, resetTimeoutOnProgress: true };
        const { structured } = await client.call(WAIT, { question_id: id, max_wait_seconds: 3600 }, options);
        assert.deepEqual(structured["responses"], [{ answer: "At last" }]);
        assert.ok((structured["waited_seconds"] as number) >= PEOPLE_TAKE_S - 1);
        assert.equal((await answering).status, 201);
        await client.close();
      });

      it(`is waited for by ${name} over ${over[by]} with nothing said about time, as \`next\` says`, async () => {
        const { client, id, answering } = await ask();
        let shown = await client.call(WAIT, { question_id: id });
        while (!isSettled(shown)) {
          const next = shown.structured["next"] as { tool: string; arguments: Record<string, unknown> };
          shown = await client.call(next.tool, next.arguments);
        }
        assert.deepEqual(shown.structured["responses"], [{ answer: "At last" }]);
        assert.equal((await answering).status, 201);
        await client.close();
      });
    }
  }
});
