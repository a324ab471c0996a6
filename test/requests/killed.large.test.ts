import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../support/contract.ts";
import { call, DATABASES, type Reply } from "../support/world.ts";
import { isRunning, openSite, type Process, type Site } from "../proof/kill-process.ts";
import { diceOf } from "../proof/sim-dice.ts";

const PLANS = 3;
const CALLS = 8;

async function startOn(site: Site): Promise<Process> {
  const server = await site.start();
  if (!isRunning(server)) throw new Error(`the server did not start: ${server.told}`);
  return server;
}

async function kill(server: Process): Promise<void> {
  server.signal("SIGKILL");
  await server.ended;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

for (const on of DATABASES) {
  describe(`a server that is killed, on ${on}`, () => {
    it("lets each call of a plan be used once, also by two runs that try again after each kill", async () => {
      await using site = await openSite(on);
      const ana = await site.run(["people", "add", "Ana Ruiz"]);
      const [agent, person] = [
        bearer(await site.run(["keys", "create", "planner", "--scope", "agent"])),
        bearer(await site.run(["keys", "create", "phone", "--scope", "answer", "--person", ana])),
      ];
      const dice = diceOf(20_261_130);
      let server = await startOn(site);
      let kills = 0;
      const ask = (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Reply> =>
        call(server.url + path, method, { headers, ...(body !== undefined && { body }) });

      for (let at = 0; at < PLANS; at += 1) {
        const plan = `plan-${at}`;
        const calls = Array.from({ length: CALLS }, (_, i) => ({
          call_id: `${plan}.${i}`,
          spec: { fn: "pay_out", kwargs: { amount: i % 3 } },
        }));
        const made = await ask("POST", "/plans", agent, { plan_id: plan, calls, channel: { human: { id: ana } } });
        assert.equal(made.status, 201, made.text);
        const waiting = (await ask("GET", "/people/me/asks", person)).body.asks[0].id as string;
        const { digest } = (await ask("GET", `/people/me/asks/${waiting}`, person)).body;
        const decided = await ask("POST", `/people/me/asks/${waiting}/decision`, person, { approved: true, digest });
        assert.equal(decided.status, 200, decided.text);

        /** Uses the calls in their order; returns which of them this run was given. */
        let tried = 0;
        const run = async (name: string): Promise<number[]> => {
          const mine: number[] = [];
          for (let i = 0; i < CALLS;) {
            const { spec, call_id } = calls[i] ?? assert.fail();
            const headers = { ...agent, "idempotency-key": `${name} ${call_id}` };
            tried += 1;
            const reply = await ask("POST", `/plans/${plan}/uses`, headers, { ...spec, call_id }).catch(() => null);
            if (reply === null) {
              await restarting;
              continue;
            }
            if (reply.status === 200) mine.push(i);
            else assert.deepEqual([reply.status, reply.body.error?.reason], [409, "spent"], reply.text);
            i += 1;
          }
          return mine;
        };
        let restarting: Promise<void> = Promise.resolve();
        const runs = Promise.all([run("one"), run("two")]);
        const killing = async (): Promise<void> => {
          for (const isBefore of [1 + dice.int(6), 8 + dice.int(6)]) {
            await until(() => Promise.resolve(tried >= isBefore ? true : undefined));
            const { promise, resolve } = Promise.withResolvers<undefined>();
            restarting = promise;
            await kill(server);
            kills += 1;
            server = await startOn(site);
            resolve(undefined);
          }
        };
        const [[one, two]] = await Promise.all([runs, killing()]);
        assert.deepEqual(
          [...one, ...two].toSorted((a, b) => a - b),
          calls.map((_, i) => i),
          `${plan}: ${JSON.stringify({ one, two })}`,
        );
      }
      const used = await site.query(`SELECT count(*) AS n FROM audit WHERE action = 'function_call.used'`);
      assert.deepEqual([Number(used[0]?.["n"]), kills], [PLANS * CALLS, PLANS * 2]);
      await kill(server);
      assert.deepEqual(await site.examine(), []);
    });

    it("makes what was pressed before the kill, once, after its time to undo it", async () => {
      await using site = await openSite(on);
      const ana = await site.run(["people", "add", "Ana Ruiz"]);
      const agent = bearer(await site.run(["keys", "create", "bot", "--scope", "agent"]));
      let server = await startOn(site);
      const link = await site.run(["link", "--person", ana]);
      const code = link.slice(link.indexOf("#start=") + "#start=".length).trim();
      const opened = await call(server.url + "/session", "POST", { body: { code } });
      const cookie = (opened.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      const shown = { cookie, "sec-fetch-site": "same-origin" };
      const made = await call(server.url + "/function_calls", "POST", {
        headers: agent,
        body: {
          run_id: "r",
          call_id: "c",
          spec: { fn: "notify", kwargs: { to: "Bo" }, channel: { human: { id: ana } } },
        },
      });
      assert.equal(made.status, 200, made.text);
      const [ask] = (await call(server.url + "/people/me/asks", "GET", { headers: shown })).body.asks;
      const { digest } = (await call(server.url + `/people/me/asks/${ask.id}`, "GET", { headers: shown })).body;
      const pressed = await call(server.url + `/people/me/asks/${ask.id}/decision`, "POST", {
        headers: shown,
        body: { approved: true, digest },
      });
      assert.equal(pressed.body.presses[0].mine, true, pressed.text);
      await kill(server);
      server = await startOn(site);
      const after = await call(server.url + `/people/me/asks/${ask.id}`, "GET", { headers: shown });
      assert.ok(after.body.presses.length === 1 || after.body.state === "answered", after.text);
      await site.sleepFor(6000);
      const read = await call(server.url + "/function_calls/c?wait=20", "GET", { headers: agent });
      assert.equal(read.body.status.approved, true, read.text);
      const ends = await site.query(`SELECT count(*) AS n FROM audit WHERE action = 'function_call.approved'`);
      assert.equal(Number(ends[0]?.["n"]), 1);
      await kill(server);
      assert.deepEqual(await site.examine(), []);
    });
  });
}
