/** Every door that reads what can be large, with a request that goes as far into the server as such a body can. */
import { createHash, createHmac } from "node:crypto";
import { signedWebhookHeaders } from "../src/lib/network/standard-webhooks.ts";
import { FORM_SHAPES, JSON_SHAPES, jsonOf, MAIL_SHAPES } from "./door-bodies.ts";
import { MAIL_DOMAIN, PUBLIC_URL, SECRETS, TWILIO_ACCOUNT, type DoorScene, type Sent } from "./door-scene.ts";
import { KIB, MOST, shapes, textOf, type Door } from "./door.ts";
import { relayDoors, taskDoors } from "./relay-doors.ts";

export function doorsOf(scene: DoorScene): Door[] {
  return [
    ...crowdDoors(scene),
    ...a2hDoors(scene),
    ...mcpDoors(scene),
    ...relayDoors(scene),
    ...taskDoors(scene),
    ...personDoors(scene),
    ...linkDoors(scene),
    ...providerDoors(scene),
    ...adminDoors(scene),
  ];
}

function crowdDoors({ keys, send }: DoorScene): Door[] {
  return [
    {
      route: "POST /agent/questions",
      bytes: 120 * KIB,
      shapes,
      request: (part) => ({
        path: "/agent/questions",
        headers: keys.agent,
        body: jsonOf({ prompt: "Well?", type: "text", context: part }),
      }),
    },
    {
      route: "POST /human/responses",
      bytes: 120 * KIB,
      shapes,
      async request(part, i) {
        const asked = { prompt: "Well?", type: "text", min_responses: 1 };
        const { text } = await send({ path: "/agent/questions", headers: keys.agent, body: jsonOf(asked) });
        const { question_id } = JSON.parse(text) as { question_id: string };
        return {
          path: "/human/responses",
          headers: { "x-fingerprint": `bench-${i}` },
          body: jsonOf({ question_id, answer: part }),
        };
      },
    },
  ];
}

const A2H = "/humanlayer/v1";
const messageOf = (i: number, spec: object): object => {
  return { apiVersion: "proto.a2h.dev/v1alpha1", kind: "Message", metadata: { uid: `m-${i}` }, spec };
};

function a2hDoors({ keys, send }: DoorScene): Door[] {
  const headers = keys.agent;
  const post = (path: string, body: unknown): Sent => ({ path: `${A2H}${path}`, headers, body: jsonOf(body) });
  return [
    {
      route: `POST ${A2H}/function_calls`,
      bytes: MOST,
      shapes,
      request: (value, i) =>
        post("/function_calls", { run_id: "r", call_id: `c-${i}`, spec: { fn: "refund", kwargs: { value } } }),
    },
    {
      route: `POST ${A2H}/human_contacts`,
      bytes: MOST,
      shapes,
      request: (value, i) =>
        post("/human_contacts", { run_id: "r", call_id: `h-${i}`, spec: { msg: "Well?", state: { value } } }),
    },
    {
      route: `POST ${A2H}/messages`,
      variant: "a schema",
      bytes: MOST,
      shapes,
      request: (value, i) =>
        post("/messages", messageOf(i, { message: "Well?", response_schema: { type: "object", default: value } })),
    },
    {
      route: `POST ${A2H}/agent/function_calls/:id/respond`,
      bytes: MOST,
      shapes,
      async request(value, i) {
        const spec = { fn: "refund", kwargs: {}, editable: true };
        await send(post("/function_calls", { run_id: "r", call_id: `d-${i}`, spec }));
        return post(`/agent/function_calls/d-${i}/respond`, { approved: true, kwargs: { value } });
      },
    },
    {
      route: `POST ${A2H}/agent/human_contacts/:id/respond`,
      bytes: MOST,
      shapes,
      async request(value, i) {
        await send(post("/human_contacts", { run_id: "r", call_id: `e-${i}`, spec: { msg: "Well?" } }));
        return post(`/agent/human_contacts/e-${i}/respond`, { response: textOf(value) });
      },
    },
    {
      route: `POST ${A2H}/humans`,
      bytes: MOST,
      shapes,
      request: (value) => ({ ...post("/humans", { name: textOf(value), metadata: value }), headers: keys.admin }),
    },
  ];
}

function mcpDoors({ keys }: DoorScene): Door[] {
  const call = (name: string, given: object): Sent => ({
    path: "/mcp",
    headers: { ...keys.agent, accept: "application/json, text/event-stream" },
    body: jsonOf({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } }),
  });
  const door = (name: string, given: (value: unknown) => object): Door => ({
    route: "POST /mcp",
    variant: name,
    bytes: MOST,
    shapes,
    request: (value) => call(name, given(value)),
  });
  return [
    door("request_approval", (value) => ({ fn: "refund", kwargs: { value }, max_wait_seconds: 0 })),
    door("contact_human", (value) => ({
      message: "Well?",
      max_wait_seconds: 0,
      response_schema: { type: "object", properties: { value: { type: "string" } }, default: value },
    })),
    door("ask_human", (value) => ({ question: "Well?", context: value, max_wait_seconds: 0 })),
  ];
}

function personDoors({ keys, person, send }: DoorScene): Door[] {
  /** Somebody is asked, and decides in the inbox. */
  async function decision(path: string, asked: object, decided: (ask: { digest: string }) => object): Promise<Sent> {
    const made = await send({ path: A2H + path, headers: keys.agent, body: jsonOf(asked) });
    if (made.status >= 300) throw new Error(made.text);
    const list = await read("/people/me/asks");
    const { id } = (list["asks"] as { id: string }[])[0] ?? { id: "" };
    const ask = (await read(`/people/me/asks/${id}`)) as { digest: string };
    return { path: `/people/me/asks/${id}/decision`, headers: keys.person, body: jsonOf(decided(ask)) };
  }
  async function read(path: string): Promise<Record<string, unknown>> {
    const { text } = await send({ path, headers: keys.person, method: "GET", body: undefined as never });
    return JSON.parse(text) as Record<string, unknown>;
  }
  const route = "POST /people/me/asks/:id/decision";
  const channel = { human: { id: person } };
  const call = (i: number) => ({
    run_id: "r",
    call_id: `i-${i}`,
    spec: { fn: "refund", kwargs: {}, editable: true, channel },
  });
  return [
    {
      route,
      variant: "arguments",
      bytes: MOST,
      shapes,
      request: (value, i) =>
        decision("/function_calls", call(i), ({ digest }) => ({ approved: true, digest, kwargs: { value } })),
    },
    {
      route,
      variant: "arguments as text",
      bytes: 500 * KIB,
      shapes,
      request: (value, i) =>
        decision("/function_calls", call(i), ({ digest }) => ({ approved: true, digest, kwargs: jsonOf({ value }) })),
    },
    {
      route,
      variant: "a value",
      bytes: MOST,
      shapes,
      request: (value, i) =>
        decision(
          "/messages",
          messageOf(i, { message: "Well?", response_schema: { type: "object" }, channel_id: person }),
          () => ({ value: { value } }),
        ),
    },
    {
      route: "POST /people/me/conversations",
      bytes: 120 * KIB,
      shapes,
      request: (value, i) => ({
        path: "/people/me/conversations",
        headers: keys.person,
        body: jsonOf({ entry_point: "support", text: textOf(value).slice(0, 40_000), id: `b-${i}`, more: value }),
      }),
    },
  ];
}

function linkDoors({ keys, send, link }: DoorScene): Door[] {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  return [
    {
      route: "POST /r/:token/decide",
      bytes: 250 * KIB,
      shapes: FORM_SHAPES,
      async request(fields, i) {
        // People decide on a page if the request is too long for a message.
        const kwargs = { why: "because ".repeat(1000) };
        const spec = { fn: "refund", kwargs, channel: { slack: { channel_or_user_id: "C024BE91L" } } };
        const body = jsonOf({ run_id: "r", call_id: `l-${i}`, spec });
        const made = await send({ path: `${A2H}/function_calls`, headers: keys.agent, body });
        if (made.status >= 300) throw new Error(made.text);
        const path = await link();
        const opened = await send({ path: `${path}/open`, headers: form, body: "" });
        const nonce = /name="nonce" value="([^"]+)"/.exec(opened.text)?.[1] ?? "";
        return {
          path: `${path}/decide`,
          headers: { ...form, cookie: opened.cookie },
          body: `nonce=${nonce}&choice=reject&code=AAAA${String(fields)}`,
        };
      },
    },
  ];
}

function providerDoors(_: DoorScene): Door[] {
  return [slackEvents(), slackPresses(), ...twilioDoors(), webhookAnswers(), mails()];
}

function signedBySlack(path: string, body: string, more: Record<string, string> = {}): Sent {
  const at = String(Math.floor(Date.now() / 1000));
  const signature = `v0=${createHmac("sha256", SECRETS.slack).update(`v0:${at}:${body}`).digest("hex")}`;
  return { path, headers: { "x-slack-request-timestamp": at, "x-slack-signature": signature, ...more }, body };
}

function slackEvents(): Door {
  return {
    route: "POST /hooks/slack/events",
    bytes: MOST,
    shapes,
    request(value, i) {
      const words = typeof value === "string" ? { text: value } : { text: "Well", blocks: value };
      const at = { channel: "C1", channel_type: "channel", ts: `${i}.1`, thread_ts: "1.0" };
      const event = { type: "message", user: "U1", ...at, ...words };
      const body = jsonOf({ type: "event_callback", event_id: `E${i}`, team_id: "T1", event });
      return signedBySlack("/hooks/slack/events", body);
    },
  };
}

function slackPresses(): Door {
  return {
    route: "POST /hooks/slack/interactions",
    bytes: 300 * KIB,
    shapes: { ...JSON_SHAPES, ...FORM_SHAPES },
    request(part) {
      const isForm = typeof part === "string" && part.startsWith("&");
      const press = { type: "block_actions", user: { id: "U1" }, channel: { id: "C1" }, actions: [] };
      const payload = encodeURIComponent(jsonOf(isForm ? press : { ...press, message: part }));
      const body = `payload=${payload}${isForm ? part : ""}`;
      const type = { "content-type": "application/x-www-form-urlencoded" };
      return signedBySlack("/hooks/slack/interactions", body, type);
    },
  };
}

function twilioDoors(): Door[] {
  const bytes = 60 * KIB;
  const sid = (i: number) => `SM${String(i).padStart(32, "0")}`;
  const door = (path: string): Door => ({
    route: `POST ${path}`,
    bytes,
    shapes: FORM_SHAPES,
    request(fields, i) {
      const ours = { AccountSid: TWILIO_ACCOUNT, From: "+491701234567", To: "+4930901820", Body: "Well" };
      const form = new URLSearchParams({ ...ours, MessageSid: sid(i) });
      const body = `${form.toString()}${String(fields)}`;
      const all = new Map<string, Set<string>>();
      for (const [name, value] of new URLSearchParams(body)) all.set(name, (all.get(name) ?? new Set()).add(value));
      const sorted = [...all.keys()].sort();
      const signed = sorted.flatMap((name) => [...(all.get(name) ?? [])].sort().map((value) => name + value)).join("");
      const text = PUBLIC_URL + path + signed;
      const signature = createHmac("sha1", SECRETS.twilio).update(text).digest("base64");
      const type = "application/x-www-form-urlencoded";
      return { path, headers: { "content-type": type, "x-twilio-signature": signature }, body };
    },
  });
  return [
    door("/hooks/twilio/message"),
    door("/hooks/twilio/status"),
    {
      route: "POST /hooks/twilio/message",
      variant: "JSON",
      bytes,
      shapes,
      request(value, i) {
        const body = jsonOf({ AccountSid: TWILIO_ACCOUNT, MessageSid: sid(i), Body: value });
        const path = `/hooks/twilio/message?bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
        const signature = createHmac("sha1", SECRETS.twilio)
          .update(PUBLIC_URL + path)
          .digest("base64");
        return { path, headers: { "x-twilio-signature": signature }, body };
      },
    },
  ];
}

function webhookAnswers(): Door {
  return {
    route: "POST /hooks/webhook/:name",
    bytes: MOST,
    shapes,
    request(value, i) {
      const said = typeof value === "string" ? { response: value } : { response: "yes", value };
      const body = jsonOf({ delivery: "dlv_4Jx0mT9bVq2Lr7Hs1Zc8Wd", responder: { id: "1" }, ...said });
      const headers = signedWebhookHeaders([SECRETS.hook], `m${i}`, Date.now(), Buffer.from(body));
      return { path: "/hooks/webhook/desk", headers, body };
    },
  };
}

function mails(): Door {
  return {
    route: "POST /hooks/email",
    bytes: 10 * KIB * KIB - KIB,
    shapes: MAIL_SHAPES,
    request(rest, i) {
      const head = ["From: ana@people.example", `To: support@${MAIL_DOMAIN}`, `Message-ID: <m${i}@people.example>`];
      const body = Buffer.from(head.join("\r\n") + String(rest));
      const headers = signedWebhookHeaders([SECRETS.mail], `m${i}`, Date.now(), body);
      return { path: "/hooks/email", headers: { ...headers, "content-type": "message/rfc822" }, body };
    },
  };
}

function adminDoors({ keys }: DoorScene): Door[] {
  const post = (path: string, body: unknown): Sent => ({ path, headers: keys.admin, body: jsonOf(body) });
  return [
    {
      route: "POST /admin/policy/test",
      bytes: 120 * KIB,
      shapes,
      request: (value) => post("/admin/policy/test", { ask_type: "APPROVAL", action: "a", meta: { value } }),
    },
  ];
}
