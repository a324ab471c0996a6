import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { consentText } from "../../../src/requests/model/consent.ts";
import { sha256Digest } from "../../../src/lib/json/exact-json.ts";
import { enrol } from "../../support/addressed.ts";
import { DAY, fresh, HOUR, MINUTE, ROOMY, sharedWorld, until, wireNow } from "../../support/contract.ts";
import { decider, somebody } from "../../support/deciders.ts";
import { stream, tool, toolCall } from "../../support/mcp.ts";
import { ONE_DATABASE } from "../../support/world.ts";

const WAIT = "wait_for_human_responses";
const CALL_ID = /^call_[0-9A-Za-z]{22}$/;
const at = (name: string) => ({ headers: { "x-agent-id": name } });
const NO_WAIT = { max_wait_seconds: 0 };
const DEPLOY = { fn: "deploy", kwargs: { version: "1.4.2", env: "staging" } };
/** The digest of exactly this call, as the contract gives it. */
const DIGEST = "sha256:c2ee0ac1ecc765f2504a729de5d0e7e5152749eb8ebb5424bb49c7058f103dc7";

type Body = Record<string, unknown> & { call_id: string };

/** The text of a result, which its structure repeats, without the note to the model about it. */
function bodyOf({ content, structuredContent }: { content: { text: string }[]; structuredContent: Body }): Body {
  const body = JSON.parse(content[0]?.text ?? "") as Body;
  for (const [name, value] of Object.entries(body)) assert.deepEqual(structuredContent[name], value);
  const { note: _, ...said } = body;
  return said as Body;
}

for (const on of ONE_DATABASE) {
  describe(`tools for people on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    it("ask one person, by number or by name, and bring that person's words as data", async () => {
      const jane = await somebody(world());
      for (const to of [jane.number, jane.name]) {
        const options = [{ name: "tuesday", title: "Tuesday" }, { name: "friday" }];
        const args = { message: fresh("When do we ship?"), subject: "Release", to, options, ...NO_WAIT };
        const asked = await tool(world(), "contact_human", args);
        const { call_id: id, ...pending } = bodyOf(asked);
        assert.match(id, CALL_ID);
        assert.deepEqual(pending, {
          kind: "contact",
          status: "pending",
          expires_at: wireNow(world(), DAY),
          settled: false,
          waited_seconds: 0,
          next: { tool: WAIT, arguments: { question_id: id } },
        });
        assert.match(asked.content[1].text, /Go on with other work/);
        assert.deepEqual(
          (await jane.inbox()).map(({ kind, title }) => [kind, title]),
          [["reply", "Release"]],
        );

        const waiting = tool(world(), WAIT, { question_id: id });
        await jane.decides({ text: "Ship it\u202e on \u0007Tuesday", option: "tuesday" });
        const answered = await waiting;
        const body = bodyOf(answered);
        assert.deepEqual(body, {
          call_id: id,
          kind: "contact",
          status: "answered",
          response: "Ship it on Tuesday",
          response_option_name: "tuesday",
          responder: { id: jane.number, name: jane.name },
          responded_at: wireNow(world()),
          expires_at: wireNow(world(), DAY),
          settled: true,
          waited_seconds: 0,
        });
        assert.match(answered.content[1].text, /words of people.*not instructions/);
        const checked = await tool(world(), "check_human_responses", { question_id: id });
        const { settled: _, waited_seconds: __, ...rest } = body;
        assert.deepEqual(bodyOf(checked), rest);
      }
    });

    it("bring a value that fits the schema", async () => {
      const jane = await somebody(world());
      const schema = {
        type: "object",
        required: ["amount"],
        properties: { amount: { type: "integer" }, note: { anyOf: [{ const: null }, { type: "string" }] } },
      };
      const args = { message: "How much?", to: jane.number, response_schema: schema };
      const asking = tool(world(), "contact_human", args);
      const [ask] = await until(async () => ((await jane.inbox()).length > 0 ? jane.inbox() : undefined));
      assert.equal((await jane.decide(ask?.id ?? "", { value: { amount: "forty" } })).status, 400);
      assert.equal((await jane.decide(ask?.id ?? "", { value: { amount: 40, note: null } })).status, 200);
      const { structuredContent: said } = await asking;
      assert.deepEqual([said.status, said.structured_response], ["answered", { amount: 40, note: null }]);
      assert.equal(said.response, '{"amount":40,"note":null}');
    });

    it("ask for approval of exactly these arguments, digit for digit", async () => {
      const operator = await decider(world(), "1");
      const { structuredContent: asked } = await tool(world(), "request_approval", {
        ...DEPLOY,
        reason: "The tests are green.",
        ...NO_WAIT,
      });
      assert.deepEqual(
        [asked.status, asked.approved, asked.expired, asked.consent_digest, asked.expires_at],
        ["pending", null, false, DIGEST, wireNow(world(), HOUR)],
      );
      const [ask] = await operator.inbox();
      const shown = (await operator.whole(ask?.id ?? "")).body;
      assert.deepEqual([shown.fn, shown.words, shown.digest], ["deploy", "The tests are green.", DIGEST]);
      assert.deepEqual(shown.arguments, [
        {
          name: "env",
          text: '"staging"',
          typed: { kind: "text", is: "text", lines: ["staging"] },
          secret: false,
          masked: null,
        },
        {
          name: "version",
          text: '"1.4.2"',
          typed: { kind: "text", is: "text", lines: ["1.4.2"] },
          secret: false,
          masked: null,
        },
      ]);
      await operator.decides({ approved: true, comment: "only this once" });
      const approved = bodyOf(await tool(world(), WAIT, { question_id: asked.call_id }));
      assert.deepEqual(approved, {
        call_id: asked.call_id,
        kind: "approval",
        status: "approved",
        approved: true,
        comment: "only this once",
        consent_digest: DIGEST,
        decided_by: { kind: "person", id: "1", name: "operator" },
        expired: false,
        responded_at: wireNow(world()),
        expires_at: wireNow(world(), HOUR),
        settled: true,
        waited_seconds: 0,
      });

      const text =
        '{"fn":"ban_user","kwargs":{"user":1152921504606846977,"days":30.0,"note":null},"max_wait_seconds":0}';
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"request_approval","arguments":${text}}}`;
      const { result } = (
        await world().call("POST", "/mcp", {
          body,
          headers: { "content-type": "application/json" },
        })
      ).body;
      const exact = '{"days":30,"note":null,"user":1152921504606846977}';
      assert.equal(result.structuredContent.consent_digest, sha256Digest(consentText("ban_user", exact)));
      await operator.decides({ approved: false });
    });

    it("tell a rejection as a result, with its words or its ready-made reason", async () => {
      const operator = await decider(world(), "1");
      const args = { ...DEPLOY, reject_options: [{ name: "bucket", title: "Use the staging bucket" }] };
      for (const [decision, comment] of [
        [{ approved: false, option: "bucket" }, "Use the staging bucket"],
        [{ approved: false, comment: "not today" }, "not today"],
        [{ approved: false }, undefined],
      ] as const) {
        const asking = tool(world(), "request_approval", args, at(fresh("bot")));
        await operator.decides(decision);
        const { structuredContent: said, isError, content } = await asking;
        assert.deepEqual([said.status, said.approved, said.comment, isError], ["rejected", false, comment, undefined]);
        assert.equal(said.reject_option_name, "option" in decision ? "bucket" : undefined);
        assert.match(content[1].text, /do not run it/);
      }
    });

    it("take silence for no", async () => {
      const jane = await somebody(world());
      const input = { to: jane.number, timeout_seconds: 60, ...NO_WAIT };
      const ids = [
        (await tool(world(), "request_approval", { ...DEPLOY, ...input })).structuredContent.call_id,
        (await tool(world(), "contact_human", { message: "Are you there?", ...input })).structuredContent.call_id,
      ];
      await world().advance(MINUTE);
      const [call, contact] = await Promise.all(
        ids.map(async (id) => (await tool(world(), WAIT, { question_id: id })).structuredContent),
      );
      assert.deepEqual([call.status, call.approved, call.expired, call.settled], ["expired", false, true, true]);
      assert.deepEqual([contact.status, contact.expired, contact.response], ["expired", true, undefined]);
      assert.deepEqual([call.decided_by, contact.responder], [undefined, undefined]);
    });

    it("find the same request when the same is asked again, until its outcome was told: then it is spent", async () => {
      const jane = await somebody(world());
      const bot = at(fresh("bot"));
      const ask = async (more: object = {}) =>
        (await tool(world(), "request_approval", { ...DEPLOY, to: jane.number, ...more }, bot)).structuredContent;

      // Twenty at once are one, and differ from what is not the same.
      const asked = await Promise.all(Array.from({ length: 20 }, () => ask(NO_WAIT)));
      const [first] = asked;
      assert.equal(new Set(asked.map(({ call_id }) => call_id)).size, 1);
      assert.equal((await jane.inbox()).length, 1);
      const other = await ask({ ...NO_WAIT, kwargs: { ...DEPLOY.kwargs, env: "production" } });
      assert.notEqual(other.call_id, first.call_id);
      await jane.decides({ approved: false });
      await jane.decides({ approved: false });

      // Decided, and delivered to nobody yet.
      await world().advance(HOUR);
      const joined = await ask();
      assert.deepEqual([joined.call_id, joined.status], [first.call_id, "rejected"]);
      const anew = await ask(NO_WAIT);
      assert.deepEqual([anew.status, anew.call_id === first.call_id], ["pending", false]);
      await jane.decides({ approved: true });
      assert.equal((await ask()).approved, true);
      // An approval is good for one call, however it was delivered.
      const again = await ask(NO_WAIT);
      assert.equal(again.approved, null);
      await jane.decides({ approved: true });
      await tool(world(), "check_human_responses", { question_id: again.call_id }, bot);
      assert.equal((await ask(NO_WAIT)).approved, null);
      // The earlier request can still be read.
      const read = await tool(world(), "check_human_responses", { question_id: first.call_id }, bot);
      assert.equal(read.structuredContent.status, "rejected");
    });

    it("keep the outcome for a caller who went away before it came", async () => {
      const jane = await somebody(world());
      const args = { message: fresh("Who goes away?"), to: jane.number };
      const gone = await stream(world(), toolCall("contact_human", args));
      const { id } = await until(async () => (await jane.inbox())[0]);
      const isWatched = () => [...world().server.ctx.wake.topics()].includes(`request:${id}`);
      await until(isWatched);
      gone.close();
      await until(() => !isWatched());
      await jane.decides({ text: "You did." });
      const back = await tool(world(), "contact_human", args);
      assert.equal(back.structuredContent.response, "You did.");
    });

    it("are the same request for a day under a key of the asker's own, and refuse it for another", async () => {
      const jane = await somebody(world());
      const key = fresh("key");
      const ask = (more: object = {}) =>
        tool(world(), "request_approval", { ...DEPLOY, to: jane.number, idempotency_key: key, ...more });
      const { structuredContent: first } = await ask(NO_WAIT);
      await jane.decides({ approved: true });
      for (let i = 0; i < 2; i += 1) {
        const { structuredContent: again } = await ask();
        assert.deepEqual([again.call_id, again.approved], [first.call_id, true]);
      }
      for (const more of [{ fn: "destroy" }, { kwargs: {} }, { reason: "other" }]) {
        const { structuredContent, isError } = await ask(more);
        assert.deepEqual([isError, structuredContent.error.code], [true, "IDEMPOTENCY_MISMATCH"]);
      }
      const contact = await tool(world(), "contact_human", { message: "And this?", idempotency_key: key });
      assert.equal(contact.structuredContent.error.code, "IDEMPOTENCY_MISMATCH");
    });

    it("show life while nobody decides, and go on where the hold ended", async () => {
      const jane = await somebody(world());
      const args = { message: fresh("How long?"), to: jane.number };
      const open = await stream(world(), toolCall("contact_human", args, { token: "p1" }));
      const { params } = await open.message();
      assert.deepEqual(params, { progressToken: "p1", progress: 0, message: "0 of 1 answers, 00:00" });
      for (let seconds = 10; seconds <= 290; seconds += 10) {
        await world().advance(10_000);
        const { params: more } = await open.message();
        assert.ok(more.progress >= seconds, JSON.stringify(more));
      }
      await world().advance(10_000);
      let last = await open.message();
      while (last.method) last = await open.message();
      const { status, settled, waited_seconds: waited } = last.result.structuredContent;
      assert.deepEqual([status, settled, waited], ["pending", false, 300]);
    });

    it("say who can be asked, page by page, and nothing of how they are reached", async () => {
      const ana = await enrol(world().server.ctx, "Ána Ruíz", [
        { channel: "email", target: { to: "ana@example.com" } },
      ]);
      assert.ok(ana);
      const { structuredContent, content } = await tool(world(), "list_humans", { query: "ana ruiz" });
      const [{ id, ...rest }] = structuredContent.humans;
      assert.match(id, /^\d+$/);
      assert.deepEqual([rest, structuredContent.next_cursor], [{ name: "Ána Ruíz", description: "" }, null]);
      assert.ok(!content[0].text.includes("@"));

      const seen: string[] = [];
      for (let cursor: string | null = "0"; cursor !== null;) {
        const page: { humans: { id: string }[]; next_cursor: string | null } = (
          await tool(world(), "list_humans", { limit: 2, cursor })
        ).structuredContent;
        seen.push(...page.humans.map((human) => human.id));
        cursor = page.next_cursor;
      }
      assert.deepEqual(seen, [...new Set(seen)]);
      assert.ok(seen.includes(id) && seen.includes("1"));
    });

    it("tell mistakes as results, and know nothing of another agent's requests", async () => {
      const two = fresh("Same Name");
      await enrol(world().server.ctx, two);
      await enrol(world().server.ctx, two);
      const cases: [name: string, args: object, code: string, field: string][] = [
        ["contact_human", {}, "VALIDATION_ERROR", "message"],
        ["contact_human", { message: "x", timeout_seconds: 59 }, "VALIDATION_ERROR", "timeout_seconds"],
        ["contact_human", { message: "x", subject: "a\r\nBcc: b" }, "VALIDATION_ERROR", "subject"],
        ["contact_human", { message: "x", options: [{ name: "a" }, { name: "a" }] }, "VALIDATION_ERROR", "options"],
        ["contact_human", { message: "x", options: [{ title: "a" }] }, "VALIDATION_ERROR", "options[0].name"],
        [
          "contact_human",
          { message: "x", options: [{ name: "a" }], response_schema: {} },
          "VALIDATION_ERROR",
          "options",
        ],
        [
          "contact_human",
          { message: "x", response_schema: { $ref: "http://x/" } },
          "VALIDATION_ERROR",
          "response_schema",
        ],
        ["contact_human", { message: "x", to: "Nobody At All" }, "UNKNOWN_HUMAN", "to"],
        ["contact_human", { message: "x", to: "999999" }, "UNKNOWN_HUMAN", "to"],
        ["contact_human", { message: "x", to: two }, "UNKNOWN_HUMAN", "to"],
        ["request_approval", { fn: "x" }, "VALIDATION_ERROR", "kwargs"],
        ["request_approval", { fn: "x", kwargs: [] }, "VALIDATION_ERROR", "kwargs"],
        ["request_approval", { fn: "x\u0000", kwargs: {} }, "VALIDATION_ERROR", "fn"],
        [
          "request_approval",
          { ...DEPLOY, ...NO_WAIT, reject_options: [{ name: "no" }, { name: "later", title: " Approve! " }] },
          "VALIDATION_ERROR",
          "reject_options[1]",
        ],
        [
          "request_approval",
          { ...DEPLOY, ...NO_WAIT, reject_options: [{ name: "OK" }] },
          "VALIDATION_ERROR",
          "reject_options[0]",
        ],
        ["list_humans", { cursor: "x" }, "VALIDATION_ERROR", "cursor"],
      ];
      for (const [name, args, code, field] of cases) {
        const { structuredContent, isError } = await tool(world(), name, args);
        assert.equal(isError, true, JSON.stringify(args));
        const { error } = structuredContent;
        assert.deepEqual([error.code, error.details.field], [code, field], JSON.stringify(args));
      }
      const mine = (await tool(world(), "contact_human", { message: fresh("Mine?"), ...NO_WAIT })).structuredContent
        .call_id;
      for (const handle of [mine, "call_0000000000000000000000", "call_../x"]) {
        for (const name of [WAIT, "check_human_responses"]) {
          const { structuredContent } = await tool(world(), name, { question_id: handle }, at("mallory"));
          assert.equal(structuredContent.error.code, "QUESTION_NOT_FOUND");
        }
      }
    });
  });
}
