import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { accepted, callBody, contactBody, messageBody, openScene, type Scene } from "../../support/a2h.ts";
import { until } from "../../support/addressed.ts";
import { openAgentServer, type ReceivedEvent } from "../../support/agent-server.ts";
import { ONE_DATABASE } from "../../support/world.ts";

/** More than ASCII, and a number that a parser would spell in another way. */
const STATE = '{"note":"Grüße, 東京 \u{1f44d}","big":1152921504606846977,"nested":{"none":null}}';

/** Returns the headers as a library reads them: each header once, as it came. */
function headersOf({ headers }: ReceivedEvent): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Both libraries believe exactly these bytes, under this secret and no other. */
function assertBelieved(told: ReceivedEvent, secret: string): void {
  const headers = headersOf(told);
  const svixOnly = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("webhook-")));
  const standardOnly = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("svix-")));
  assert.deepEqual(new StandardWebhook(secret).verify(told.bytes, standardOnly), told.body);
  for (const shown of [svixOnly, standardOnly]) {
    assert.doesNotThrow(() => new SvixWebhook(secret).verify(told.bytes, shown));
  }

  const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const changed = Buffer.from(told.bytes);
  changed[changed.length - 2] = (changed.at(-2) ?? 0) ^ 1;
  for (const [key, bytes, shown] of [
    [other, told.bytes, headers],
    [secret, changed, headers],
    [secret, told.bytes, { ...headers, "webhook-id": "msg_other", "svix-id": "msg_other" }],
  ] as const) {
    assert.throws(() => new StandardWebhook(key).verify(bytes, shown));
    assert.throws(() => new SvixWebhook(key).verify(bytes, shown));
  }
}

for (const on of ONE_DATABASE) {
  describe(`webhooks to agents on ${on}`, () => {
    // The libraries hold the time against this machine's, so time runs by itself.
    const open = (): Promise<Scene> => openScene(on, { running: true });

    it("are believed by standardwebhooks and by svix, in every format and about every outcome", async () => {
      await using scene = await open();
      await using agent = await openAgentServer();
      const secrets = new Map<string, string>();
      for (const format of ["v1beta1", "v1beta2", "v1beta3", "a2h"]) {
        const made = accepted(await scene.agent.post("/webhook_endpoints", { url: `${agent.url}/${format}`, format }));
        secrets.set(`/hooks/${format}`, made.secret);
      }
      const ana = await scene.human("Ana Ruiz");
      const asked = { channel: { human: { id: ana.id } } };
      const call = callBody(asked);
      const [contact, given] = [contactBody(asked), contactBody(asked)];
      const body = JSON.stringify(call).replace('"spec":{', `"spec":{"state":${STATE},`);
      accepted(await scene.agent.post("/function_calls", body));
      accepted(await scene.agent.post("/human_contacts", contact));
      accepted(await scene.agent.post("/human_contacts", given));
      const message = accepted(await scene.agent.post("/messages", messageBody()));
      accepted(
        await ana.answer.post(`/agent/function_calls/${call.call_id}/respond`, { approved: false, comment: "später" }),
      );
      accepted(await ana.answer.post(`/agent/human_contacts/${contact.call_id}/respond`, { response: "Dienstag ✓" }));
      accepted(await scene.agent.post(`/agent/human_contacts/${given.call_id}/cancel`));

      accepted(await scene.agent.post(`/messages/${message.metadata.uid}/cancel`));

      // Three outcomes go to each of four endpoints, and that of the message to the one whose format has it.
      await until(() => agent.told.length >= 13);
      assert.equal(agent.told.length, 13);
      for (const one of agent.told) assertBelieved(one, secrets.get(one.path) ?? assert.fail(one.path));
      const [told = assert.fail("nothing of the call")] = agent.told.filter(({ text }) => text.includes("später"));
      assert.ok(told.text.includes(`"state":${STATE}`), told.text);
    });

    it("are believed under both secrets while one takes the place of another, and when they come again", async () => {
      await using scene = await open();
      await using agent = await openAgentServer([500]);
      const made = accepted(await scene.agent.post("/webhook_endpoints", { url: agent.url, format: "v1beta2" }));
      const path = `/webhook_endpoints/${made.id}`;
      const { secret } = accepted(await scene.agent.post(`${path}/rotate_secret`));
      accepted(await scene.agent.post(`${path}/test`));
      await until(() => agent.told.length === 1);
      const { items } = accepted(await scene.agent.get(`${path}/deliveries`));
      accepted(await scene.agent.post(`${path}/deliveries/${items[0].id}/retry`));
      await until(() => agent.told.length === 2);
      for (const one of agent.told) for (const key of [made.secret, secret]) assertBelieved(one, key);
      const [first, again] = agent.told;
      assert.deepEqual(first?.bytes, again?.bytes);
      assert.equal(first?.headers["svix-id"], again?.headers["svix-id"]);
    });
  });
}
