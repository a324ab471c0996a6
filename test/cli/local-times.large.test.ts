import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseDurationMs, durationText } from "../../src/lib/duration.ts";
import { newFolder, start } from "../support/program.ts";

describe("times that people read", () => {
  it("are those of the reader's zone, and those for programs are not", async () => {
    const store = { PARLEY_DATA_DIR: newFolder() };
    const inZone = (zone: string, ...words: string[]) => start(words, { ...store, TZ: zone }).ended;
    await inZone("UTC", "keys", "create", "build-bot", "--scope", "agent");
    const made = async (zone: string) =>
      /^key_.* (\S+ \d\d:\d\d) (\S+) +good$/m.exec((await inZone(zone, "keys", "list")).out);
    const [, utc = "", utcName] = (await made("UTC")) ?? [];
    const [, tokyo = "", tokyoName] = (await made("Asia/Tokyo")) ?? [];
    assert.deepEqual([utcName, tokyoName], ["UTC", "GMT+9"]);
    assert.equal(Date.parse(`${tokyo}:00+09:00`), Date.parse(`${utc}:00Z`));
    const { out } = await inZone("Asia/Tokyo", "keys", "list", "--json");
    assert.equal((JSON.parse(out) as [{ created_at: string }])[0].created_at.slice(0, 16), utc.replace(" ", "T"));
  });
});

describe("a duration as a flag takes it", () => {
  it("is in the largest unit without a fraction", () => {
    const times = [0, 250, 10_000, 60_000, 90_000, 86_400_000, 2_592_000_000];
    assert.deepEqual(times.map(durationText), ["0ms", "250ms", "10s", "1m", "90s", "1d", "30d"]);
    assert.deepEqual(
      times.map((ms) => parseDurationMs(durationText(ms))),
      times,
    );
  });
});
