import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withStore } from "../../src/cli/command-store.ts";
import { sql } from "../../src/core/store/sql.ts";
import { newFolder, parley } from "../support/program.ts";

describe("parley keys list", () => {
  it("lists a key whose lifetime is impossible, and says so", async () => {
    const env = { PARLEY_DATA_DIR: newFolder() };
    await parley(["keys", "create", "build-bot", "--scope", "agent"], env);
    const io = { env, out: () => {}, tell: () => {}, progress: () => {}, interrupted: AbortSignal.abort() };
    await withStore({ dataDir: env.PARLEY_DATA_DIR, config: undefined }, io, ({ db }) =>
      db.transact((tx) => tx.all(sql`UPDATE keys SET expires_at = ${Number.MAX_SAFE_INTEGER}`)),
    );
    const { code, out, err } = await parley(["keys", "list"], env);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /build-bot .* until a time that is not valid\n/);
    const json = await parley(["keys", "list", "--json"], env);
    const [key] = JSON.parse(json.out) as { expires_at: string }[];
    assert.equal(key?.expires_at, "not valid");
  });
});
