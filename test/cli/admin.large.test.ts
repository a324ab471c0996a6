import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openSink, type Sink } from "../channels/mail.ts";
import { newFolder, parley, post, type Run, serve, start, stop, until } from "../support/program.ts";

/** Takes agents' events, with the status it is set to. */
interface Hears {
  server: Server;
  url: string;
  status: number;
  told: string[];
}

async function openHears(): Promise<Hears> {
  const hears: Hears = { server: createServer(), url: "", status: 200, told: [] };
  hears.server.on("request", (request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", () => {
      hears.told.push(text);
      response.writeHead(hears.status).end();
    });
  });
  hears.server.listen(0, "127.0.0.1");
  await once(hears.server, "listening");
  hears.url = `http://127.0.0.1:${(hears.server.address() as AddressInfo).port}/hooks`;
  return hears;
}

describe("administering from a terminal, beside a server", () => {
  let mail: Sink;
  let hears: Hears;
  let server: Run & { url: string };
  let store: Record<string, string>;
  let admin: Record<string, string>;
  before(async () => {
    mail = await openSink();
    hears = await openHears();
    store = {
      PARLEY_DATA_DIR: newFolder(),
      PARLEY_EMAIL_SMTP_URL: mail.url,
      PARLEY_EMAIL_FROM: "Parley <parley@parley.example>",
    };
    server = await serve(store["PARLEY_DATA_DIR"] ?? "", store);
    const key = (await parley(["keys", "create", "boss", "--scope", "admin"], store)).out.trim();
    admin = { authorization: `Bearer ${key}` };
  });
  after(async () => {
    if (server) await stop(server);
    hears?.server.close();
    await mail?.[Symbol.asyncDispose]();
  });

  /** Enrols somebody by mail and returns their id. */
  async function enrol(name: string, address: string): Promise<string> {
    const input = { name, prioritizedContactChannels: [{ email: { address } }] };
    assert.equal((await post(server.url, "/humanlayer/v1/humans", input, admin)).status, 201);
    const people = JSON.parse((await parley(["people", "list", "--json"], store)).out) as {
      id: string;
      name: string;
    }[];
    return people.find((one) => one.name === name)?.id ?? assert.fail("nobody was enrolled");
  }

  it("tries a channel, and says what the provider said", async () => {
    const ana = await enrol("Ana Ruiz", "ana@people.example");
    const sent = await parley(["channel", "test", "email", "--person", ana], store);
    assert.deepEqual([sent.code, sent.out], [0, `Sent to ${ana} by email. It can be answered for ten minutes.\n`]);
    assert.deepEqual(mail.taken.at(-1)?.to, ["ana@people.example"]);

    const waiting = start(["channel", "test", "email", "--person", ana, "--wait", "--json"], store);
    await until(() => waiting.err().includes("It can be answered"), "that it was sent");
    const key = (await parley(["keys", "create", "ana", "--scope", "answer", "--person", ana], store)).out.trim();
    const hers = { authorization: `Bearer ${key}` };
    const { asks } = (await (await fetch(`${server.url}/people/me/asks`, { headers: hers })).json()) as {
      asks: { id: string }[];
    };
    for (const { id } of asks) {
      await post(server.url, `/people/me/asks/${id}/decision`, { option: "arrived" }, hers);
    }
    const { code, out } = await waiting.ended;
    assert.equal(code, 0);
    const { id: _, ...test } = JSON.parse(out) as { id: string };
    assert.deepEqual(test, {
      channel: "email",
      person: ana,
      state: "answered",
      attempts: 1,
      error: null,
      via: "api",
    });

    const cy = (await parley(["people", "add", "Cy Sand", "--email", "Cy@people.example"], store)).out.trim();
    assert.equal((await parley(["channel", "test", "email", "--person", cy], store)).code, 0);
    assert.deepEqual(mail.taken.at(-1)?.to, ["cy@people.example"]);

    const gone = await enrol("Bo Lind", "gone@people.example");
    const failed = await parley(["channel", "test", "email", "--person", gone], store);
    assert.deepEqual(
      [failed.code, failed.out],
      [
        1,
        "Not sent: 550. Check email.smtp_url and email.from of the settings, and the person's address (docs/how-to/email.md).\n",
      ],
    );
    const none = await parley(["channel", "test", "email"], store);
    assert.deepEqual(
      [none.code, none.err],
      [1, "parley: operator has no address for email; the console has a place for it, under People.\n"],
    );
    const device = await parley(["channel", "test", "push"], store);
    assert.equal(device.code, 1);
    assert.match(
      device.out,
      /^Not sent: no device\. Check that the person has signed in on the device \(parley link\)/,
    );
    const odd = await parley(["channel", "test", "pigeon"], store);
    assert.match(odd.err, /^parley channel test: TYPE must be one of push, slack, email, /);
    assert.equal(odd.code, 2);
  });

  it("lists where agents are told, and tries it", async () => {
    const input = { agent: "support", url: hears.url, format: "v1beta2" };
    const made = await post(server.url, "/humanlayer/v1/webhook_endpoints", input, admin);
    const { id } = (await made.json()) as { id: string };
    const list = await parley(["webhook", "list"], store);
    assert.match(list.out, new RegExp(`^ENDPOINT +AGENT +FORMAT +STATE +URL\n${id} +support +v1beta2 +enabled +http`));
    const [listed] = JSON.parse(
      (await parley(["webhook", "list", "--agent", "support", "--json"], store)).out,
    ) as object[];
    assert.deepEqual(listed, {
      id,
      ...input,
      events: [],
      description: "",
      enabled: true,
      failing_since: null,
      created_at: (listed as { created_at: string }).created_at,
    });
    assert.equal((await parley(["webhook", "list", "--agent", "other", "--json"], store)).out, "[]\n");

    const told = await parley(["webhook", "test", id, "--event", "human_contact.completed"], store);
    assert.deepEqual([told.code, told.out], [0, "Told human_contact.completed, and answered with status 200.\n"]);
    const body = JSON.parse(hears.told[0] ?? "") as { is_test: boolean; type: string };
    assert.deepEqual([body.is_test, body.type], [true, "human_contact.completed"]);

    hears.status = 500;
    const refused = await parley(["webhook", "test", id, "--json"], store);
    const { id: _, ...result } = JSON.parse(refused.out) as { id: string };
    assert.equal(refused.code, 1);
    assert.deepEqual(result, {
      event: "function_call.completed",
      state: "pending",
      attempts: 1,
      status: 500,
      error: "status 500",
    });
    assert.match((await parley(["webhook", "list"], store)).out, / failing since .+ /);
    const unknown = await parley(["webhook", "test", "whe_unknown"], store);
    assert.deepEqual([unknown.code, unknown.out], [1, ""]);
    assert.equal((await parley(["webhook", "test", id, "--event", "x"], store)).code, 2);
  });

  it("retires people", async () => {
    const eve = await enrol("Eve Moor", "eve@people.example");
    const key = (await parley(["keys", "create", "eve", "--scope", "answer", "--person", eve], store)).out.trim();
    const gone = await parley(["people", "remove", eve], store);
    assert.deepEqual([gone.code, gone.err], [0, `Eve Moor (${eve}) can no longer be asked, sign in or answer.\n`]);
    const hers = { headers: { authorization: `Bearer ${key}` } };
    assert.equal((await fetch(`${server.url}/people/me/asks`, hers)).status, 401);
    assert.ok(!(await parley(["people", "list"], store)).out.includes(eve));
    const again = await parley(["people", "remove", eve], store);
    assert.deepEqual([again.code, again.err], [1, "parley: No person has this number.\n"]);
    const operator = await parley(["people", "remove", "1"], store);
    assert.deepEqual([operator.code, operator.err], [1, "parley: Whoever runs this server cannot be deleted.\n"]);
    const record = await fetch(`${server.url}/humanlayer/v1/audit?agent=&limit=1000`, { headers: admin });
    const { items } = (await record.json()) as {
      items: { actor: object; action: string; data?: { person?: string } }[];
    };
    const made = items.filter(({ action, data }) => action === "key.created" && data?.person === eve);
    assert.deepEqual(
      made.map(({ actor }) => actor),
      [{ kind: "server", id: `cli:${userInfo().username}` }],
    );
    const added = (await parley(["people", "add", "Ann Day"], store)).out.trim();
    assert.deepEqual(JSON.parse((await parley(["people", "remove", added, "--json"], store)).out), {
      id: added,
      name: "Ann Day",
      removed: true,
      named_in: [],
    });
  });

  it("says where the settings still name whoever was removed, and which of it no server starts on", async () => {
    const folder = newFolder();
    mkdirSync(folder, { recursive: true });
    const env = { PARLEY_DATA_DIR: folder };
    const add = async (name: string) => (await parley(["people", "add", name], env)).out.trim();
    const [eve, bo] = [await add("Eve Moor"), await add("Bo Lind")];
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const settings = [
      `people: { groups: { finance: [Eve Moor, ${bo}], sales: [${bo}] } }`,
      `relay: { people: { default: Eve Moor } }`,
      `webhook_targets: { desk: { url: "https://desk.example.com", secret: ${secret}, humans: [${eve}, ${bo}] } }`,
      `a2h: { channels: { boss: { any_of: [{ human: { id: "${eve}" } }, { inbox: {} }] } }, default_channel: ${eve} }`,
    ];
    writeFileSync(join(folder, "parley.yaml"), settings.join("\n"));
    const rules = (to: string) => `  - { id: ask-${to}, when: { action: write }, decision: ESCALATE, to: "${to}" }`;
    writeFileSync(join(folder, "policy.yaml"), `version: 1\nrules:\n${rules(eve)}\n${rules(bo)}\n`);
    const gone = await parley(["people", "remove", eve], env);
    const refused = "webhook_targets.desk.humans, a2h.channels.boss, a2h.default_channel";
    assert.deepEqual(gone.err.trim().split("\n").slice(-3), [
      `Eve Moor (${eve}) can no longer be asked, sign in or answer.`,
      `The settings still name Eve Moor: ${refused}, people.groups.finance, relay.people.default, the policy's rule ask-${eve}.`,
      `No server starts on them before this is changed: ${refused}.`,
    ]);
    assert.equal(gone.code, 0);
    const starting = await parley(["serve", "--port", "0"], env);
    assert.notEqual(starting.code, 0);
    assert.match(starting.err, /webhook_targets\.desk\.humans names/);
  });
});
