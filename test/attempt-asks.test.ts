import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalExact, sha256Digest } from "../src/lib/exact-json.ts";
import { consentText } from "../src/model/consent.ts";
import { sql } from "../src/store/sql.ts";
import { askForAttempt, awaitAnswer, awaitDecision } from "../src/verbs/ask-for-attempt.ts";
import { cancelJob } from "../src/verbs/cancel-job.ts";
import { attempt, RUN, SHOP, withPeople } from "./attempts.ts";
import { until } from "./contract.ts";
import { sharedRelay } from "./relay.ts";
import { DATABASES } from "./world.ts";

const soon = () => AbortSignal.timeout(10_000);

for (const on of DATABASES) {
  describe(`what the agent of an attempt wants, on ${on}`, () => {
    const scene = sharedRelay(on);
    const ctx = () => scene().world.server.ctx;

    it("is allowed by a person who saw the tool and its whole input, and whose approval binds exactly these", async () => {
      const who = await attempt(scene(), { title: "Add VAT" });
      const dana = await scene().person();
      const wish = { ...RUN("npm run migrate -- --all"), diff: "+ one line" };
      const { askId, inboxId } = await withPeople(scene(), who, "p1", wish);
      const { body } = await dana.whole(inboxId);
      assert.deepEqual([body.kind, body.fn, body.title], ["approval", "Bash", "Run: npm run migrate -- --all"]);
      assert.deepEqual(
        body.arguments.map(({ name }: { name: string }) => name),
        ["command"],
      );
      assert.equal(body.digest, sha256Digest(consentText("Bash", canonicalExact(wish.input))));
      assert.match(body.words, /card-1 \(Add VAT\) in shop.*by claude.*No sandbox.*\+ one line/s);
      assert.equal(body.run, `${who.jobId} / task:card-1-3f2a`);

      const waiting = awaitDecision(ctx(), askId, soon());
      assert.equal((await dana.decide(inboxId, { approved: true })).status, 200);
      assert.deepEqual(await waiting, { allow: true });
    });

    it("is denied with the words of the person who said no", async () => {
      const who = await attempt(scene());
      const dana = await scene().person();
      const first = await withPeople(scene(), who, "p1", RUN("npm run migrate"));
      await dana.decide(first.inboxId, { approved: false, comment: "use the fixture database" });
      assert.deepEqual(await awaitDecision(ctx(), first.askId, soon()), {
        allow: false,
        why: `${dana.name}: use the fixture database`,
      });
      const second = await withPeople(scene(), who, "p2", RUN("npm run drop"));
      await dana.decide(second.inboxId, { approved: false });
      assert.deepEqual(await awaitDecision(ctx(), second.askId, soon()), {
        allow: false,
        why: `${dana.name} declined`,
      });
    });
  });
}
