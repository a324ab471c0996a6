import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { callAt, openAssignment } from "../support/assignment.ts";
import { until } from "../support/contract.ts";

/** The server's answer by the specification. A strict client accepts nothing else. */
interface ServerInfo {
  serverName: string;
  tasks: { id: string; submittedAt: string; status: "queued" | "in-progress" | "completed"; commit?: string }[];
}

/**
 * A sending application written to the specification alone: an endpoint and a bearer token is all it has. `at` is where
 * the name of the endpoint leads to.
 */
function sendingApplication(at: string, endpoint: string, token: string, contentType: string) {
  const { host } = new URL(endpoint);
  const headers = { authorization: `Bearer ${token}` };
  return {
    async submit(task: { id: string; prompt: string; dependencies?: string[] }): Promise<void> {
      const more = { ...headers, "content-type": contentType };
      const { status } = await callAt(at, "POST", "/", { host, headers: more, body: JSON.stringify(task) });
      if (status < 200 || status > 299) throw new Error(`the task was not accepted: ${status}`);
    },
    async query(): Promise<ServerInfo> {
      const reply = await callAt(at, "GET", "/", { host, headers: { ...headers, accept: "application/json" } });
      if (reply.status !== 200) throw new Error(`no answer: ${reply.status}`);
      const info = reply.body as ServerInfo;
      assert.equal(typeof info.serverName, "string");
      for (const { id, submittedAt, status, commit } of info.tasks) {
        assert.equal(typeof id, "string");
        assert.match(submittedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        assert.ok(["queued", "in-progress", "completed"].includes(status), status);
        assert.equal(commit !== undefined, status === "completed");
        if (commit !== undefined) assert.match(commit, /^[0-9a-f]{40}$/);
      }
      return info;
    },
    async cancel(id: string): Promise<number> {
      return (await callAt(at, "DELETE", "/", { host, headers, body: JSON.stringify({ id }) })).status;
    },
  };
}

describe("a sending application that knows only the specification", () => {
  for (const contentType of ["application/json", "text/plain"]) {
    it(`gives work, sees it done, and calls it off, saying ${contentType}`, async () => {
      await using scene = await openAssignment("sqlite");
      const { ana, runner, world } = scene;
      const { port } = new URL(world.url);
      const endpoint = `http://agent-assignment-server.localhost:${port}`;
      const app = sendingApplication(world.url, endpoint, ana.key, contentType);
      await app.submit({ id: "card-2", prompt: "Use it in the invoice", dependencies: ["card-1"] });
      await app.submit({ id: "card-1", prompt: "Add VAT to the export" });
      const statusOf = async (id: string) => (await app.query()).tasks.find((task) => task.id === id)?.status;
      assert.deepEqual([await statusOf("card-1"), await statusOf("card-2")], ["queued", "queued"]);
      assert.equal(await runner.start(), "card-1");
      assert.deepEqual([await statusOf("card-1"), await statusOf("card-2")], ["in-progress", "queued"]);
      await runner.complete("shop", "card-1");
      assert.equal(await statusOf("card-1"), "completed");
      assert.equal(await runner.start(), "card-2");

      await app.submit({ id: "card-2", prompt: "Use it in the receipt instead" });
      assert.equal(await statusOf("card-2"), "queued");
      await runner.bury("shop", "card-2");
      assert.equal(await runner.start(), "card-2");
      await runner.complete("shop", "card-2");
      assert.equal(await statusOf("card-2"), "completed");

      await app.submit({ id: "card-3", prompt: "Release notes" });
      assert.equal(await app.cancel("card-3"), 200);
      const stranger = sendingApplication(world.url, endpoint, "YOUR_BEARER_TOKEN", contentType);
      await assert.rejects(stranger.submit({ id: "x", prompt: "y" }), /401/);
      await assert.rejects(stranger.query(), /401/);
      assert.ok(await until(async () => (await ana.task("card-3")).state === "canceled"));
    });
  }
});
