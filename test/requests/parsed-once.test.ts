import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { BASE, callBody, sharedScene } from "../support/a2h.ts";
import { ONE_DATABASE } from "../support/world.ts";

for (const on of ONE_DATABASE) {
  describe(`the arguments of a call on ${on}`, () => {
    const scene = sharedScene(on);

    it("are parsed once, as the body that they came in", async () => {
      const { world, agent } = scene();
      const mark = "parsed-once-mark";
      const body = JSON.stringify(callBody({ kwargs: { note: mark, amount: 12.5 } }));
      let replied = "";
      const parse = mock.method(JSON, "parse");
      try {
        const reply = await fetch(`${world.url}${BASE}/function_calls`, {
          method: "POST",
          headers: { authorization: `Bearer ${agent.key}`, "content-type": "application/json" },
          body,
        });
        replied = await reply.text();
        assert.ok(replied.includes(mark), replied);
      } finally {
        parse.mock.restore();
      }
      const texts = parse.mock.calls.map(({ arguments: [text] }) => text);
      // Tests hold each reply against its schema, and read it for that.
      const own = texts.filter((text) => text.includes(mark) && text !== replied);
      assert.equal(own.length, 1, own.join("\n"));
    });
  });
}
