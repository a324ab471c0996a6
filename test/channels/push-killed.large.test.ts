import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { newFolder, post, serve, stop, until } from "../support/program.ts";
import { openPushService, type PushService } from "../support/push-service.ts";

const KILL_AT_POINT = fileURLToPath(new URL("../proof/kill-at-point.ts", import.meta.url));
/** A rival takes over after a minute. */
const LEASE_OVER_MS = 61_000;

describe("notices of a server that dies", () => {
  let service: PushService;
  let vapidKey = "";
  before(async () => {
    service = await openPushService(async () => vapidKey);
  });
  after(() => service[Symbol.asyncDispose]());

  for (const point of ["notify-between-device-and-notice", "notice-claimed", "notice-sent"]) {
    it(`at ${point} reach every device all the same, each planned once`, async () => {
      const folder = newFolder();
      const browsers = [service.subscribe(), service.subscribe(), service.subscribe()];
      service.reset();

      const first = await serve(folder);
      const key = (await (await fetch(`${first.url}/human/push/key`)).json()) as { vapid_public_key: string };
      vapidKey = key.vapid_public_key;
      for (const [i, { endpoint, keys }] of browsers.entries()) {
        const subscription = { endpoint: endpoint.replace(service.origin, "https://push.example.com"), keys };
        const reply = await post(
          first.url,
          "/human/push/subscribe",
          { subscription },
          { "x-fingerprint": `device-${i}` },
        );
        assert.equal(reply.status, 201);
      }
      await stop(first);
      const here = new DatabaseSync(join(folder, "parley.db"));
      here
        .prepare("UPDATE push_subscriptions SET address = replace(address, 'https://push.example.com', ?)")
        .run(service.origin);
      here.close();

      const doomed = await serve(folder, { PROOF_POINT: point, NODE_OPTIONS: `--import=${KILL_AT_POINT}` });
      const died = once(doomed.child, "exit");
      const asked = { prompt: "Which label is clearer?", type: "text", min_responses: 1, timeout_seconds: 3600 };
      await post(doomed.url, "/agent/questions", asked);
      assert.deepEqual(await died, [null, "SIGKILL"]);

      const ahead = { PROOF_CLOCK_AHEAD_MS: String(LEASE_OVER_MS), NODE_OPTIONS: `--import=${KILL_AT_POINT}` };
      const second = await serve(folder, ahead);
      const planned = () => {
        const rows = new DatabaseSync(join(folder, "parley.db"), { readOnly: true });
        const found = rows.prepare("SELECT state, count(*) AS n FROM notices GROUP BY state").all();
        rows.close();
        return found.map((row) => ({ ...row }));
      };
      // One look at a time: between two, what was not planned at the first would be taken for sent at the second.
      const isAllSent = (found: ReturnType<typeof planned>) =>
        found.length > 0 && found.every(({ state }) => state === "sent");
      await until(() => isAllSent(planned()), "everything sent");
      await stop(second);
      assert.deepEqual(planned(), [{ state: "sent", n: 3 }]);
      assert.equal(new Set(service.pushed.map(({ browser }) => browser.endpoint)).size, 3, "every device");
      const topics = new Set(service.pushed.map(({ headers }) => headers.topic));
      assert.equal(topics.size, 1, "whatever came twice takes the place of the first");
    });
  }
});
