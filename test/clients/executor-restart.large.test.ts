import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ask, jobs, type JobEvent } from "@parley/sdk/executor";
import { OPERATOR } from "../support/identities.ts";
import { freshDatabase } from "../support/fresh-database.ts";
import { newFolder, parley, post, serve, stop, until } from "../support/program.ts";
import { DATABASES } from "../support/world.ts";

for (const on of DATABASES) {
  describe(`the executor SDK and a server that is started again on ${on}`, () => {
    it("goes on waiting and following, and is answered once", async () => {
      const dataDir = newFolder();
      const env: Record<string, string> = on === "postgres" ? { DATABASE_URL: await freshDatabase() } : {};
      const first = await serve(dataDir, env);
      const { url } = first;
      const keyOf = async (...words: string[]) =>
        (await parley(["keys", "create", ...words], { PARLEY_DATA_DIR: dataDir, ...env })).out.trim();
      const [key, dana] = [
        await keyOf("runner", "--scope", "executor"),
        await keyOf("dana", "--scope", "answer", "--person", OPERATOR),
      ];
      const place = { url, key, job_id: "J-42", step_id: "S-3" };
      const stages: string[] = [];
      const options = { ...place, ask_id: "ask-7f3a", onPending: (stage: string) => stages.push(stage) };
      const answer = ask("CLARIFICATION", "Which currency?", options);
      await until(() => stages.includes("people"), "people");
      const jobEvent: JobEvent[] = [];
      const stopped = new AbortController();
      const following = (async () => {
        for await (const event of jobs.events({ ...place, after: 0, signal: stopped.signal })) jobEvent.push(event);
      })().catch(() => {});
      await until(() => jobEvent.length >= 3, "events");

      await stop(first);
      const second = await serve(dataDir, env, "--port", new URL(url).port);
      const said = { ask_id: "ask-7f3a", job_id: "J-42", step_id: "S-3", status: "ANSWERED", answer_text: "EUR" };
      const reply = await post(url, "/answers", said, { authorization: `Bearer ${dana}` });
      assert.equal(reply.status, 202, await reply.text());
      assert.equal((await answer).text, "EUR");
      const went = () => jobEvent.flatMap((event) => (event.event === "status" ? [event.data.state] : []));
      await until(() => went().at(-1) === "RUNNING" && jobEvent.some(({ event }) => event === "answer"), "the answer");
      assert.deepEqual(went(), ["RUNNING", "WAITING_ON_ANSWER", "RUNNING"]);
      assert.deepEqual(
        jobEvent.map(({ id }) => id),
        jobEvent.map((_, i) => i + 1),
      );
      stopped.abort();
      await following;
      await stop(second);
    });
  });
}
