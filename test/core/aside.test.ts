import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { DATABASES, openWorld } from "../support/world.ts";

/** Counts to `most`, which takes a second or so for some millions. */
const counting = (
  most: number,
) => sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most})
  SELECT count(*) AS counted FROM n`;
const MILLIONS = 3_000_000;

for (const on of DATABASES) {
  describe(`reading aside on ${on}`, () => {
    it("lets others read and write while a statement takes long", async () => {
      await using world = await openWorld({ on });
      const { db } = world.server.ctx;
      const ended: string[] = [];
      const long = db.readInWorker(async (aside) => {
        const rows = await aside.all(counting(MILLIONS));
        ended.push("counting");
        return rows;
      });
      assert.equal((await world.agent("ana-bot").create()).status, 201);
      assert.equal((await world.person("ana").get("/human/questions")).body.questions.length, 1);
      ended.push("a question");
      assert.deepEqual(await long, [{ counted: MILLIONS }]);
      assert.deepEqual(ended, ["a question", "counting"]);
    });

    it("finds what was committed, by the store's clock, and tells of a mistake", async () => {
      await using world = await openWorld({ on });
      const { db } = world.server.ctx;
      const { id } = await world.agent("ana-bot").ask();
      await world.advance(60_000);
      const look = sql`SELECT ask_id, expires_at, settled_at, parley_now() AS now FROM questions WHERE ask_id = ${id}`;
      const [row] = await db.readInWorker((aside) => aside.all<{ now: number }>(look));
      assert.deepEqual([{ ...row }], await db.all(look));
      assert.equal(row?.now, world.clock.now());
      await assert.rejects(
        db.readInWorker((aside) => aside.all(sql`SELECT * FROM nowhere`)),
        /nowhere/,
      );
    });
  });
}

it("is over when the store is closed, and is not begun again", async () => {
  await using world = await openWorld({ on: "sqlite" });
  const { db } = world.server.ctx;
  const long = db.readInWorker((aside) => aside.all(counting(MILLIONS)));
  const refused = assert.rejects(long, { code: "store_unavailable" });
  await world.server.stop();
  await refused;
  await assert.rejects(
    db.readInWorker((aside) => aside.all(sql`SELECT 1`)),
    { code: "store_unavailable" },
  );
});
