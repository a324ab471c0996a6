import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { snoozeTimes } from "../../web/src/inbox/snooze-times.ts";

/** A time by the reader's clock, on a day in November or the day after. */
const at = (hour: number, minute = 0, day = 20): number => new Date(2026, 10, day, hour, minute).getTime();
const namesAt = (now: number, expiresAt: number | null) =>
  snoozeTimes(now, expiresAt === null ? null : new Date(expiresAt).toISOString()).map(({ name }) => name);

describe("the times until which a request may be put aside", () => {
  it("are an hour, this evening and tomorrow morning, by the reader's clock", () => {
    assert.deepEqual(snoozeTimes(at(10), null), [
      { name: "hour", at: at(11) },
      { name: "evening", at: at(18) },
      { name: "tomorrow", at: at(8, 0, 21) },
    ]);
  });

  it("have no evening from 17:00 on", () => {
    assert.deepEqual(namesAt(at(16, 59), null), ["hour", "evening", "tomorrow"]);
    assert.deepEqual(namesAt(at(17), null), ["hour", "tomorrow"]);
  });

  it("never go beyond half of the time to the deadline, which takes the place of later ones", () => {
    const expires = (time: number) => new Date(time).toISOString();
    assert.deepEqual(snoozeTimes(at(10), expires(at(11))), [{ name: "latest", at: at(10, 30) }]);
    assert.deepEqual(namesAt(at(10), at(12)), ["hour", "latest"]);
    assert.deepEqual(namesAt(at(10), at(10, 0, 21)), ["hour", "evening", "latest"]);
    assert.deepEqual(namesAt(at(10), at(10, 0, 22)), ["hour", "evening", "tomorrow"]);
  });
});
