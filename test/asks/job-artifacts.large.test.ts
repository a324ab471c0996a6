import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { sweepJobs } from "../../src/asks/loops/sweep.ts";
import { sql } from "../../src/core/store/sql.ts";
import { DAY, sendRaw } from "../support/contract.ts";
import {
  answerAsk,
  assertFenced,
  assertNoJob,
  assertRelayError,
  claim,
  freshKind,
  openJobs,
  pendingAsk,
  sharedJobs,
  type JobScene,
} from "../support/jobs.ts";
import { DATABASES, type Reply } from "../support/world.ts";

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");
const MIB = 1_048_576;
const NO_ARTIFACT = { code: "ARTIFACT_NOT_FOUND", message: "No such artifact" };
const tooLarge = (details: object) => ({ code: "PAYLOAD_TOO_LARGE", message: "The body is too large", details });
const badPath = (constraint: string) => ({
  code: "VALIDATION_ERROR",
  message: "Request body is not valid",
  details: { field: "path", constraint },
});

const folderOf = ({ world }: JobScene) => join(world.config.dataDir, "artifacts");
const put = (scene: JobScene, { id, lease }: { id: string; lease: string }, path: string, body: string | Uint8Array) =>
  scene.ana.call("PUT", `/jobs/${id}/artifacts/${path}`, body, {
    "parley-lease": lease,
    "content-type": "text/plain",
  });
const get = (scene: JobScene, id: string, path: string): Promise<Reply> =>
  scene.ana.get(`/jobs/${id}/artifacts/${path}`);

for (const on of DATABASES) {
  describe(`files of jobs on ${on}`, () => {
    const scene = sharedJobs(on);

    it("keeps a file and gives it back as it came, never as a page", async () => {
      const held = await scene().claimed();
      const kept = await put(scene(), held, "out/report.md", "# Déjà vu\n");
      assert.deepEqual(
        [kept.status, kept.body],
        [201, { path: "out/report.md", size: 12, sha256: sha256("# Déjà vu\n") }],
      );
      const read = await get(scene(), held.id, "out/report.md");
      assert.deepEqual([read.status, read.text], [200, "# Déjà vu\n"]);
      for (const [name, value] of [
        ["content-type", "application/octet-stream"],
        ["content-disposition", 'attachment; filename="report.md"'],
        ["x-content-type-options", "nosniff"],
        ["content-security-policy", "sandbox"],
        ["cache-control", "no-store"],
        ["content-length", "12"],
      ] as const) {
        assert.equal(read.headers.get(name), value);
      }
      const file = join(folderOf(scene()), held.id, "1", "out", "report.md");
      assert.equal(readFileSync(file, "utf8"), "# Déjà vu\n");
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.equal(statSync(folderOf(scene())).mode & 0o777, 0o700);
      assert.deepEqual(readdirSync(join(folderOf(scene()), ".incoming")), []);
      assert.equal((await put(scene(), held, "empty", "")).body.size, 0);
      assert.equal((await get(scene(), held.id, "empty")).text, "");
    });

    it("keeps the newest of a path: within an epoch it replaces, across epochs both stay", async () => {
      const { bo, ana } = scene();
      const held = await scene().claimed();
      for (const text of ["one", "one", "two"]) assert.equal((await put(scene(), held, "a.txt", text)).status, 201);
      assert.equal((await get(scene(), held.id, "a.txt")).text, "two");
      await ana.post(`/jobs/${held.id}/release`, {}, held.lease);
      const next = await claim(bo, held.kind);
      assert.equal((await bo.get(`/jobs/${held.id}/artifacts/a.txt`)).text, "two");
      const header = { "parley-lease": next.lease };
      await bo.call("PUT", `/jobs/${held.id}/artifacts/a.txt`, "three", header);
      assert.equal((await bo.get(`/jobs/${held.id}/artifacts/a.txt`)).text, "three");
      const folder = join(folderOf(scene()), held.id);
      const texts = ["1", "3"].map((epoch) => readFileSync(join(folder, epoch, "a.txt"), "utf8"));
      assert.deepEqual(texts, ["two", "three"]);
    });

    it("keeps one of many that come at once, and says which", async () => {
      const held = await scene().claimed();
      const texts = Array.from({ length: 16 }, (_, i) => `version ${i} ${"x".repeat(i * 1000)}`);
      const replies = await Promise.all(texts.map((text) => put(scene(), held, "hot.txt", text)));
      assert.deepEqual(
        replies.map(({ status }) => status),
        Array(16).fill(201),
      );
      const { text } = await get(scene(), held.id, "hot.txt");
      const [row] = await scene().world.server.ctx.db.all<{ sha256: string }>(
        sql`SELECT sha256 FROM artifacts WHERE job_id = ${held.id}`,
      );
      assert.equal(row?.sha256, sha256(text));
      assert.ok(texts.includes(text));
    });

    it("follows no link that somebody planted, neither writing nor reading", async () => {
      const held = await scene().claimed();
      await put(scene(), held, "in/fine.txt", "fine");
      const folder = join(folderOf(scene()), held.id, "1");
      const outside = join(scene().world.config.dataDir, `outside-${on}`);
      mkdirSync(outside);
      writeFileSync(join(outside, "secret.txt"), "secret");
      symlinkSync(outside, join(folder, "out"));
      symlinkSync(join(outside, "secret.txt"), join(folder, "link.txt"));
      assertRelayError(await put(scene(), held, "out/new.txt", "x"), 400, badPath("taken"));
      assert.deepEqual(readdirSync(outside), ["secret.txt"]);
      // A link at the end is replaced, and what it leads to stays.
      assert.equal((await put(scene(), held, "link.txt", "mine")).status, 201);
      assert.equal(readFileSync(join(outside, "secret.txt"), "utf8"), "secret");
      assert.equal((await get(scene(), held.id, "link.txt")).text, "mine");

      for (const plant of ["link", "folder", "pipe", "other"]) {
        await put(scene(), held, `deep/${plant}.txt`, "secret");
        const file = join(folder, "deep", `${plant}.txt`);
        rmSync(file);
        if (plant === "link") symlinkSync(join(outside, "secret.txt"), file);
        if (plant === "folder") mkdirSync(file);
        if (plant === "pipe") execFileSync("mkfifo", [file]);
        if (plant === "other") writeFileSync(file, "of another length");
        assertRelayError(await get(scene(), held.id, `deep/${plant}.txt`), 404, NO_ARTIFACT);
      }
      rmSync(join(folder, "in"), { recursive: true });
      writeFileSync(join(outside, "fine.txt"), "evil");
      symlinkSync(outside, join(folder, "in"));
      assertRelayError(await get(scene(), held.id, "in/fine.txt"), 404, NO_ARTIFACT);
      assertRelayError(await put(scene(), held, "link.txt/below", "x"), 400, badPath("taken"));
      assertRelayError(await put(scene(), held, "deep", "x"), 400, badPath("taken"));
      // A whole job's folder may be a link too.
      const other = await scene().claimed();
      symlinkSync(outside, join(folderOf(scene()), other.id));
      assertRelayError(await put(scene(), other, "a.txt", "x"), 400, badPath("taken"));
      assert.deepEqual(readdirSync(outside).sort(), ["fine.txt", "secret.txt"]);
    });

    it("keeps no more than it may, of one file and of one job", async () => {
      const held = await scene().claimed();
      const large = new Uint8Array(20 * MIB);
      assert.equal((await put(scene(), held, "large.bin", large)).status, 201);
      const tooLong = new Uint8Array(20 * MIB + 1);
      assertRelayError(await put(scene(), held, "b", tooLong), 413, tooLarge({ max_bytes: 20 * MIB }));
      // Nothing says beforehand how long it is.
      const chunk = `${(512 * 1024).toString(16)}\r\n${"x".repeat(512 * 1024)}\r\n`;
      const head = [
        `PUT /jobs/${held.id}/artifacts/b HTTP/1.1`,
        "Host: 127.0.0.1",
        "Transfer-Encoding: chunked",
        `Authorization: Bearer ${scene().ana.key}`,
        `Parley-Lease: ${held.lease}`,
        "Connection: close",
      ].join("\r\n");
      const chunked = await sendRaw(scene().world.url, `${head}\r\n\r\n${chunk.repeat(41)}0\r\n\r\n`);
      assert.deepEqual(
        [chunked.status, chunked.text],
        [413, JSON.stringify({ error: tooLarge({ max_bytes: 20 * MIB }) })],
      );
      assert.deepEqual(readdirSync(join(folderOf(scene()), ".incoming")), []);

      const { db } = scene().world.server.ctx;
      await db.transact((tx) => tx.all(sql`UPDATE artifacts SET size = ${200 * MIB - 5} WHERE job_id = ${held.id}`));
      assertRelayError(await put(scene(), held, "six", "123456"), 413, tooLarge({ max_job_bytes: 200 * MIB }));
      assert.equal((await put(scene(), held, "five", "12345")).status, 201);
      // A replaced artifact frees its space.
      assert.equal((await put(scene(), held, "large.bin", "small now")).status, 201);

      await db.transact(async (tx) => {
        for (let i = 0; i < 498; i += 1) {
          await tx.all(
            sql`INSERT INTO artifacts (job_id, epoch, path, size, sha256, at) VALUES (${held.id}, 1, ${`f${i}`}, 1, '', 0)`,
          );
        }
      });
      assertRelayError(await put(scene(), held, "one-more", "x"), 413, tooLarge({ max_files: 500 }));
      assert.equal((await put(scene(), held, "five", "54321")).status, 201);
      assert.deepEqual(readdirSync(join(folderOf(scene()), ".incoming")), []);
    });

    it("takes files from whoever holds the job only", async () => {
      const { ana, bo } = scene();
      const held = await scene().claimed();
      assertFenced(await put(scene(), { ...held, lease: "lease_old" }, "a", "x"), 1, "RUNNING");
      assertFenced(await ana.call("PUT", `/jobs/${held.id}/artifacts/a`, "x"), 1, "RUNNING");
      assertNoJob(await bo.call("PUT", `/jobs/${held.id}/artifacts/a`, "x", { "parley-lease": held.lease }));
      assertNoJob(await bo.get(`/jobs/${held.id}/artifacts/a`));
      const { job_id: id } = (await ana.post("/jobs", { external: true })).body;
      assert.equal((await ana.call("PUT", `/jobs/${id}/artifacts/a`, "x")).status, 201);
      assert.equal(readFileSync(join(folderOf(scene()), id, "0", "a"), "utf8"), "x");
    });

    it("gives ids that are no names of folders a folder of their own, and nobody that of another", async () => {
      const { ana } = scene();
      const odd = `job:${on}`;
      const hash = `h-${sha256(odd).slice(0, 32)}`;
      for (const id of [odd, hash]) {
        assert.equal((await ana.post("/jobs", { external: true, job_id: id })).status, 201);
        assert.equal((await ana.call("PUT", `/jobs/${id}/artifacts/a`, id)).status, 201);
      }
      assert.equal(readFileSync(join(folderOf(scene()), hash, "0", "a"), "utf8"), odd);
      for (const id of [odd, hash]) assert.equal((await get(scene(), id, "a")).text, id);
    });
  });

  describe(`jobs that are over, on ${on}`, () => {
    it("go with all that was asked and kept in them, a month later, and nothing else does", async () => {
      await using scene = await openJobs(on);
      const { ana, planner, world } = scene;
      const ctx = world.server.ctx;
      const old = await scene.claimed();
      const asked = await pendingAsk(scene, old.id, ana);
      await answerAsk(scene, old.id, asked);
      assert.equal((await ana.get(`/asks/${asked}/answer?wait=0`)).status, 200);
      await put(scene, old, "a.txt", "x");
      await ana.post(`/jobs/${old.id}/finish`, { state: "SUCCEEDED" }, old.lease);
      await world.advance(1000);
      const kind = freshKind();
      const young = (await scene.queue({ kind })).job_id as string;
      await planner.post(`/jobs/${young}/cancel`, {});
      const external = (await ana.post("/jobs", { external: true })).body.job_id as string;
      await ana.call("PUT", `/jobs/${external}/artifacts/a.txt`, "x");
      const leftover = join(folderOf(scene), ".incoming", "left");
      for (const [name, ageMs] of [
        ["left", 2 * 3_600_000],
        ["new", 0],
      ] as const) {
        const file = join(folderOf(scene), ".incoming", name);
        writeFileSync(file, "half");
        const at = (world.clock.now() - ageMs) / 1000;
        utimesSync(file, at, at);
      }
      const decision = (
        ttl: number,
      ) => sql`INSERT INTO decision_cache (decision_key, seed_key, created_at, ttl_seconds, source, hits)
        VALUES (${`for ${ttl}`}, 'seed', ${world.clock.now() - 60_000}, ${ttl}, 'runner', 0)`;
      await ctx.db.transact(async (tx) => {
        for (const ttl of [60, 61]) await tx.all(decision(ttl));
      });
      await sweepJobs(ctx);
      assert.deepEqual(
        (await ctx.db.all<{ key: string }>(sql`SELECT decision_key AS key FROM decision_cache`)).map(({ key }) => key),
        ["for 61"],
      );
      assert.equal(existsSync(leftover), false);
      assert.equal(existsSync(join(folderOf(scene), ".incoming", "new")), true);
      assert.equal((await planner.get(`/jobs/${old.id}`)).status, 200);

      for (let day = 0; day < 30; day += 6) {
        await ana.get(`/jobs/${external}`);
        await world.advance(day === 24 ? 6 * DAY - 1000 : 6 * DAY);
      }
      await sweepJobs(ctx);
      assertNoJob(await planner.get(`/jobs/${old.id}`));
      assert.equal((await planner.get(`/jobs/${young}`)).status, 200);
      assert.equal((await ana.get(`/jobs/${external}/artifacts/a.txt`)).text, "x");
      assert.deepEqual(readdirSync(folderOf(scene)).sort(), [".incoming", external]);
      for (const table of [sql`asks`, sql`answers`, sql`artifacts`, sql`job_events`, sql`job_claims`, sql`jobs`]) {
        const rows = await ctx.db.all(sql`SELECT 1 FROM ${table} WHERE job_id = ${old.id}`);
        assert.equal(rows.length, 0);
      }
      assert.equal((await ctx.db.all(sql`SELECT 1 FROM answer_deliveries`)).length, 0);
    });
  });
}
