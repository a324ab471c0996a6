import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MAIL_SHAPES } from "../../bench/door-bodies.ts";
import { readMail } from "../../src/channels/email/read-mail.ts";
import { AGENT, ANA, DOMAIN } from "./mail.ts";

const read = (rest: string) => {
  const raw = Buffer.from(`From: ${ANA}\r\nTo: ${AGENT}\r\nMessage-ID: <1@people.example>${rest}`);
  return readMail({ raw, recipients: [], fromNobody: false }, DOMAIN, AGENT);
};
const shaped = (shape: string, bytes: number): string => MAIL_SHAPES[shape]?.(bytes) ?? assert.fail(shape);

describe("a large mail", () => {
  it("is read while others are served", async () => {
    let turns = 0;
    let isRead = false;
    const turn = () => {
      turns += 1;
      if (!isRead) setImmediate(turn);
    };
    await read("\r\n\r\nyes");
    turn();
    // A tenth of what the two seconds of processor time are enough for, so that a slow machine reads it too.
    const { text } = await read(shaped("plain words", 200_000));
    isRead = true;
    assert.ok(text?.startsWith("A few plain words.\n"));
    assert.ok((text?.length ?? 0) > 150_000, `${text?.length} characters`);
    assert.ok(turns > 100, `${turns} turns`);
  });

  it("keeps a million characters of its words", async () => {
    const { text } = await read(`\r\n\r\n${`${"word ".repeat(180)}\r\n`.repeat(1200)}`);
    assert.equal(text?.length, 1_000_000);
  });

  it("that takes too long, or has a line that no mail has, is not read, and the next one is", async () => {
    for (const shape of ["many parts", "one line"]) {
      await assert.rejects(read(shaped(shape, 10_000_000)), /cannot be read/);
      assert.equal((await read("\r\n\r\nyes\r\n")).text, "yes\n");
    }
  });
});
