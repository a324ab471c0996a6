import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import { sweep } from "../../src/server/loops/sweep.ts";
import { startServer } from "../../src/server/server.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { beginInInbox } from "../../src/conversations/speak-in-inbox.ts";
import { accepted, callBody, contactBody, messageBody } from "../support/a2h.ts";
import { openTalking, seen, type Talking } from "../support/conversations.ts";
import { tool } from "../support/mcp.ts";
import { ONE_DATABASE, type Reply } from "../support/world.ts";

const SETTINGS = `
slack: { bot_token: xoxb-1, signing_secret: secret, api_url: "http://127.0.0.1:9/api/" }
a2h:
  recipients: listed
  default_channel: duty
  channels:
    duty: { slack: { channel_or_user_id: C0DUTY } }
    billing: { slack: { channelOrUserId: C0BILLING, allowed_responder_ids: [U0ANA] } }
    both: { all_of: [{ slack: { channel_or_user_id: U0ANA } }, { slack: { channel_or_user_id: U0BO } }] }
  entry_points: { support: { agent: support, inbox: true } }
`;

/** Where what was asked last goes: Slack channels and users, and people by name. */
async function asked(scene: Talking): Promise<string[]> {
  const { db } = scene.world.server.ctx;
  const rows = await db.all<{ audience: string }>(
    sql`SELECT audience FROM requests ORDER BY created_at DESC, ask_id DESC`,
  );
  const people = await db.all<{ person_id: string; name: string }>(sql`SELECT person_id, name FROM people`);
  const found = [...(rows[0]?.audience ?? "").matchAll(/"(?:to|person)":"([^"]+)"|"via":"(inbox)"/g)];
  return found.map(([, to, inbox]) => people.find((one) => one.person_id === to)?.name ?? to ?? inbox ?? "");
}

for (const on of ONE_DATABASE) {
  describe(`whom requests ask that name nobody, on ${on}`, () => {
    it("are those of the key, else the usual ones, else everybody who sees all there is", async () => {
      await using scene = await openTalking(on, SETTINGS);
      const ana = await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
      await scene.enroll("Bo Lind", { slack: { channelOrUserId: "U0BO" } });
      const ofAna = await scene.holder({ name: "ofana", scope: "agent", channel: ana });
      const ofBilling = await scene.holder({ name: "ofbilling", scope: "agent", channel: "billing" });
      const cy = await scene.enroll("Cy Roth", { slack: { channelOrUserId: "U0CY" } });
      const ofNobody = await scene.holder({ name: "ofnobody", scope: "agent", channel: cy });
      assert.equal((await scene.admin.call("DELETE", `/humans/${cy}`)).status, 204);
      const goes = async (holder: typeof scene.agent, path: string, body: object, to: string[]) => {
        const sent = accepted(await holder.post(path, body));
        assert.deepEqual(await asked(scene), to);
        return sent;
      };
      await goes(scene.agent, "/function_calls", callBody(), ["C0DUTY"]);
      await goes(scene.agent, "/messages", messageBody(), ["C0DUTY"]);
      await goes(ofAna, "/human_contacts", contactBody(), ["Ana Ruiz"]);
      await goes(ofBilling, "/function_calls", callBody(), ["C0BILLING"]);
      await goes(ofNobody, "/function_calls", callBody(), ["C0DUTY"]);
      const named = await goes(scene.agent, "/function_calls", callBody({ channel: { channel_id: "billing" } }), [
        "C0BILLING",
      ]);
      assert.deepEqual(named.spec.channel, { channel_id: "billing" });
      await goes(ofAna, "/messages", messageBody({ channel_id: "duty" }), ["C0DUTY"]);
      await goes(ofAna, "/function_calls", callBody({ channel: { inbox: {} } }), ["inbox"]);
      await goes(scene.agent, "/function_calls", callBody({ channel: { channel_id: "both" } }), ["U0ANA", "U0BO"]);

      const joint = await scene.agent.post("/human_contacts", contactBody({ channel: { channel_id: "both" } }));
      assert.deepEqual([joint.status, joint.body.error.code], [422, "validation_failed"]);
      const unknown = await scene.agent.post("/human_contacts", contactBody({ channel: { channel_id: "sales" } }));
      assert.deepEqual(
        [unknown.status, unknown.body.error],
        [422, { code: "unknown_channel", message: "No channel has this id.", id: "sales" }],
      );
      // Targets of the operator are allowed, whatever targets agents may name themselves.
      const own = await scene.agent.post(
        "/human_contacts",
        contactBody({ channel: { slack: { channel_or_user_id: "C0DUTY" } } }),
      );
      assert.equal(own.status, 403);
      const valid = (id: string) => scene.agent.post("/channels/validate", { channel: { channel_id: id } });
      assert.equal(accepted(await valid("billing")).valid, true);
      assert.deepEqual(accepted(await valid("sales")).errors[0].code, "unknown_channel");
      assert.equal(
        accepted(await scene.admin.post("/channels/validate", { channel: { channel_id: "duty" } })).valid,
        true,
      );
    });

    it("are the same for the tools of an MCP client", async () => {
      await using scene = await openTalking(on, SETTINGS);
      const ana = await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
      const bo = await scene.enroll("Bo Lind", { slack: { channelOrUserId: "U0BO" } });
      const keyOf = async (name: string, channel?: string) =>
        (await scene.holder({ name, scope: "agent", ...(channel !== undefined && { channel }) })).key;
      const goes = async (key: string | null, name: string, args: object, to: string[]) => {
        const headers = key === null ? undefined : { authorization: `Bearer ${key}` };
        const { isError } = await tool(scene.world, name, { ...args, max_wait_seconds: 0 }, headers ? { headers } : {});
        assert.equal(isError, undefined);
        assert.deepEqual(await asked(scene), to);
      };
      const contact = { message: "When do we ship?" };
      const approval = { fn: "deploy", kwargs: { env: "staging" } };
      const ofBilling = await keyOf("billing-bot", "billing");
      const ofAna = await keyOf("ana-bot", ana);
      const cy = await scene.enroll("Cy Roth", { slack: { channelOrUserId: "U0CY" } });
      const ofGone = await keyOf("lost-bot", cy);
      assert.equal((await scene.admin.call("DELETE", `/humans/${cy}`)).status, 204);
      await goes(ofBilling, "contact_human", contact, ["C0BILLING"]);
      await goes(ofAna, "contact_human", contact, ["Ana Ruiz"]);
      await goes(ofAna, "contact_human", { ...contact, to: bo }, ["Bo Lind"]);
      await goes(ofAna, "request_approval", approval, ["Ana Ruiz"]);
      await goes(await keyOf("plain-bot"), "contact_human", contact, ["C0DUTY"]);
      await goes(ofGone, "request_approval", approval, ["C0DUTY"]);
      await goes(null, "contact_human", contact, ["C0DUTY"]);
      // Several who have to agree decide calls; for words the next of the usual ones is asked.
      const ofBoth = await keyOf("joint-bot", "both");
      await goes(ofBoth, "request_approval", approval, ["U0ANA", "U0BO"]);
      await goes(ofBoth, "contact_human", contact, ["C0DUTY"]);

      const { ctx } = scene.world.server;
      const headers = { authorization: `Bearer ${await keyOf("told-bot")}` };
      const call = { fn: "ship", kwargs: {} };
      const { structuredContent } = await tool(
        scene.world,
        "request_approval",
        { ...call, max_wait_seconds: 0 },
        { headers },
      );
      const [row] = await ctx.db.all<{ ask_id: string }>(
        sql`SELECT ask_id FROM requests ORDER BY created_at DESC, ask_id DESC`,
      );
      const identities = [{ kind: "slack" as const, value: "U0CY" }];
      const slackMember = { channel: "C0DUTY", mayApprove: true };
      await decideRequest(ctx, {
        requestId: row?.ask_id ?? "",
        responder: { via: "slack", person: null, identities, seesAll: false, slackMember },
        decision: { kind: "approve", digest: structuredContent.consent_digest },
      });
      const decided = (await tool(scene.world, "request_approval", call, { headers })).structuredContent;
      assert.deepEqual(
        [decided.approved, decided.decided_by],
        [true, { kind: "person", name: "an addressee who is not enrolled" }],
      );

      const stop = new AbortController();
      const prompt = { tool_name: "Bash", input: { command: "npm publish" } };
      const prompting = tool(scene.world, "approve", prompt, {
        headers: { authorization: `Bearer ${ofAna}` },
        signal: stop.signal,
      });
      prompting.catch(() => {});
      await seen(
        async () => asked(scene),
        ([first]) => first === "Ana Ruiz",
      );
      stop.abort();
    });

    it("are everybody who sees all there is where nothing is written down", async () => {
      await using scene = await openTalking(on, "");
      accepted(await scene.agent.post("/human_contacts", contactBody()));
      assert.deepEqual(await asked(scene), ["inbox"]);
    });

    it("forgets what agents have taken, and conversations that are long quiet, with their keys", async () => {
      await using scene = await openTalking(on, SETTINGS);
      const { ctx } = scene.world.server;
      const number = await scene.enroll("Ana Ruiz", { inbox: {} });
      const [row] = await ctx.db.all<{ person_id: string }>(sql`SELECT person_id FROM people WHERE number = ${number}`);
      const begin = (id: string) => beginInInbox(ctx, row?.person_id ?? "", "support", { words: id, id });
      const [old, kept] = [await begin("taken"), await begin("not taken")];
      const { text } = { text: (await scene.holder({ name: "support", scope: "agent", conversation: old })).key };
      const [first] = await scene.said(2);
      accepted(await scene.agent.post(`/conversations/${first.metadata.uid}/ack`));
      const age = (days: number) =>
        transact(ctx, async (tx) => {
          const ms = days * 86_400_000;
          await tx.all(
            sql`UPDATE conversation_messages SET acked_at = acked_at - ${ms}, created_at = created_at - ${ms}`,
          );
          await tx.all(sql`UPDATE conversations SET said_at = said_at - ${ms}`);
        });
      const numbers = async () =>
        (await ctx.db.all<{ number: number }>(sql`SELECT number FROM conversations ORDER BY number`)).map(
          (one) => one.number,
        );
      const words = async (): Promise<string[]> =>
        accepted(await scene.agent.get("/conversations?all=true")).items.map((one: Reply["body"]) => one.spec.message);
      await age(8);
      await sweep(ctx);
      assert.deepEqual([await words(), await numbers()], [["not taken"], [old, kept]]);
      await age(393);
      await sweep(ctx);
      assert.deepEqual([await words(), await numbers()], [[], []]);
      assert.equal((await scene.holderOf(text).get("/conversations")).status, 401);
    });
  });
}

describe("channels and entry points in the settings", () => {
  it("are told in one sentence each where they cannot be meant", async () => {
    const wrong: [settings: string, says: RegExp][] = [
      ["a2h: { default_channel: nobody }", /a2h\.default_channel names nobody/],
      ["a2h: { channels: { x: { slack: { channel_or_user_id: C0 } } } }", /a2h\.channels\.x\.slack/],
      ["a2h: { channels: { x: {} } }", /a2h\.channels\.x must name somebody/],
      ["a2h: { default_channel: { all_of: [{ inbox: {} }] } }", /a2h\.default_channel\.all_of/],
      ["a2h: { channels: { Big: { inbox: {} } } }", /a2h\.channels must be a block of names/],
      ["a2h: { entry_points: { a: { agent: x, telegram: true } } }", /a2h\.entry_points must be a block of names/],
      [
        "a2h: { entry_points: { a: { agent: x, sms: true }, b: { agent: y, sms: true } } }",
        /belongs to one entry point/,
      ],
      ["a2h: { entry_points: { a: { agent: x, email: nobody } } }", /a2h\.entry_points must be/],
    ];
    for (const [settings, says] of wrong) {
      const dataDir = mkdtempSync(join(tmpdir(), "parley-wrong-"));
      writeFileSync(join(dataDir, "parley.yaml"), settings);
      const env = { HOME: dataDir, PARLEY_DATA_DIR: dataDir, PARLEY_PORT: "0", PARLEY_LOG_LEVEL: "silent" };
      await assert.rejects(async () => (await startServer(loadConfig({ env }))).stop(), says);
      rmSync(dataDir, { recursive: true });
    }
  });
});
