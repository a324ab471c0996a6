import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openAskerBounds } from "../../src/requests/model/asker-bounds.ts";

const LIMITS = { open: 3, recent: 4 };

test("a request that is admitted without a count is below both limits", () => {
  const steps = fc.array(fc.constantFrom("ask", "ask", "end", "minute"), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (taken) => {
      const bounds = openAskerBounds();
      const truly = { open: 0, recent: 0 };
      for (const step of taken) {
        if (step === "end") truly.open = Math.max(0, truly.open - 1);
        if (step === "minute") truly.recent = 0;
        if (step !== "ask") continue;
        const isBelow = truly.open < LIMITS.open && truly.recent < LIMITS.recent;
        if (bounds.admits("agent:a", LIMITS)) assert.ok(isBelow);
        else if (isBelow) bounds.counted("agent:a", truly);
        if (!isBelow) continue;
        truly.open += 1;
        truly.recent += 1;
      }
    }),
  );
});

test("most requests of an agent that is below its limits need no count", () => {
  const bounds = openAskerBounds();
  let counts = 0;
  for (let i = 0; i < 1000; i += 1) {
    if (bounds.admits("agent:a", { open: 100, recent: 600 })) continue;
    counts += 1;
    bounds.counted("agent:a", { open: 0, recent: 0 });
  }
  assert.equal(counts, 10);
});

test("the limits of one agent are not those of another", () => {
  const bounds = openAskerBounds();
  bounds.counted("agent:a", { open: 2, recent: 3 });
  assert.equal(bounds.admits("agent:a", LIMITS), false);
  bounds.counted("agent:b", { open: 0, recent: 0 });
  assert.equal(bounds.admits("agent:b", LIMITS), true);
});
