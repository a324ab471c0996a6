import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../support/contract.ts";
import { QUESTION } from "../../support/mcp.ts";
import { CLIENTS, over, type Transport } from "../../support/mcp-official.ts";
import { newFolder, post, serve } from "../../support/program.ts";

const WAIT = "wait_for_human_responses";

describe("a server that is killed in the middle of a wait, and comes back", { concurrency: 2 }, () => {
  for (const by of Object.keys(over) as Transport[]) {
    for (const [name, { open }] of Object.entries(CLIENTS)) {
      it(`has lost nothing for ${name}, over ${over[by]}`, async () => {
        const dataDir = newFolder();
        const first = await serve(dataDir);
        const { port } = new URL(first.url);
        const client = await open({ url: first.url }, by);
        try {
          const asked = await client.call("ask_human", { question: QUESTION, min_responses: 1 });
          const args = { question_id: asked.structured["question_id"] };
          const heard: number[] = [];
          // Some clients do not notice that their stream broke off, and wait until they are stopped.
          const patience = new AbortController();
          const onprogress = ({ progress }: { progress: number }) => heard.push(progress);
          const waiting = client.call(WAIT, args, { onprogress, signal: patience.signal });
          const given = waiting.then(
            () => "a result",
            () => "no result",
          );
          await until(async () => heard.length === 1);
          first.child.kill("SIGKILL");
          await first.ended;
          const second = await serve(dataDir, {}, "--port", port);
          if (by === "stdio") {
            await until(async () => heard.length === 2);
            assert.ok((heard[1] ?? 0) > (heard[0] ?? 0));
          }
          const answer = { question_id: args.question_id, answer: "Nothing was lost." };
          assert.equal((await post(second.url, "/human/responses", answer)).status, 201);

          if (by === "http") patience.abort("enough");

          // The bridge asks for the wait again by itself; over HTTP the client does, with the handle that it has.
          assert.equal(await given, by === "stdio" ? "a result" : "no result");
          const { structured } = by === "stdio" ? await waiting : await client.call(WAIT, args);
          assert.deepEqual([structured["settled"], structured["responses"]], [true, [{ answer: "Nothing was lost." }]]);
          second.child.kill("SIGTERM");
          await second.ended;
        } finally {
          await client.close();
        }
      });
    }
  }
});
