/** A real server for `doors.ts`, in a process of its own, with a key of each kind and something that stands for Slack. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { reservePort } from "../test/support/ports.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const HELD_TURNS = new URL("./held-turns.ts", import.meta.url).href;

export const SECRETS = {
  slack: "0123456789abcdef0123456789abcdef",
  hook: `whsec_${Buffer.from("a key of a webhook, of this benchmark").toString("base64")}`,
  mail: `whsec_${Buffer.from("a key of mails, of this benchmark").toString("base64")}`,
  twilio: "fedcba9876543210fedcba9876543210",
};
export const TWILIO_ACCOUNT = "AC0123456789abcdef0123456789abcdef";
export const PUBLIC_URL = "https://parley.example.com";
export const MAIL_DOMAIN = "parley.example.com";

export interface Sent {
  path: string;
  headers?: Record<string, string>;
  body: string | Buffer;
  method?: string;
}

type Headers = Record<string, string>;

/** A server with the keys and data with which the endpoints are measured. */
export interface DoorScene extends AsyncDisposable {
  url: string;
  /** The headers of a key of each scope, and of somebody's own. */
  keys: Readonly<Record<"agent" | "assign" | "executor" | "answer" | "admin" | "person", Headers>>;
  /** The id of that person. */
  person: string;
  send(request: Sent): Promise<{ status: number; text: string; cookie: string }>;
  /** Returns how long the longest turn of the event loop was since this was last asked, in milliseconds. */
  longestTurn(): Promise<number>;
  /** Returns the same, and the longest without the collection of garbage. */
  longestTurns(): Promise<{ turn: number; own: number }>;
  /** Returns the routes that take more than a path: `POST /asks`. */
  routes(): Promise<string[]>;
  /** Returns the path of the next link that somebody is sent on Slack. */
  link(): Promise<string>;
}

export async function openDoorScene(): Promise<DoorScene> {
  const directory = mkdtempSync(join(tmpdir(), "parley-bench-doors-"));
  const links: string[] = [];
  const slack = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      links.push(...(/\/r\/[\w-]{43}/.exec(decodeURIComponent(Buffer.concat(chunks).toString())) ?? []));
      reply.setHeader("content-type", "application/json");
      reply.end('{"ok":true,"channel":"C1","ts":"1.1"}');
      slack.emit("told");
    });
  }).listen(0, "127.0.0.1");
  await once(slack, "listening");
  const port = await reservePort();
  const url = `http://127.0.0.1:${port}`;

  const env = {
    PATH: process.env["PATH"],
    HOME: directory,
    PARLEY_DATA_DIR: directory,
    PARLEY_PORT: String(port),
    PARLEY_PUBLIC_URL: PUBLIC_URL,
    PARLEY_CROWD_PUBLIC: "true",
    PARLEY_LOG_LEVEL: "error",
    PARLEY_A2H_CREATES_PER_MINUTE: "1000000",
    PARLEY_DELIVERY_MESSAGES_PER_HOUR: "1000000",
    PARLEY_DELIVERY_RECIPIENTS_PER_HOUR: "1000000",
  };
  const settings = join(directory, "parley.yaml");
  writeFileSync(settings, "");
  const program = (...args: string[]): string =>
    execFileSync(process.execPath, [MAIN, ...args, "--config", settings], { env, encoding: "utf8" }).trim();
  program("people", "add", "Ana Ruiz");
  const [{ id: person }] = JSON.parse(program("people", "list", "--json")) as [{ id: string }];
  writeFileSync(settings, settingsOf(person, `http://127.0.0.1:${(slack.address() as AddressInfo).port}/`));

  const child = spawn(process.execPath, ["--import", HELD_TURNS, MAIN, "serve", "--config", settings], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env,
  });
  const ended = once(child, "exit").then(() => {
    throw new Error("the server ended");
  });
  // Its lines begin once it serves.
  await Promise.race([once(child.stdout as Readable, "data"), ended]);
  ended.catch(() => undefined);
  const asked = async (what: string): Promise<unknown> => {
    child.send(what);
    return ((await once(child, "message")) as [unknown])[0];
  };
  const key = (scope: string, ...more: string[]): Headers => ({
    authorization: `Bearer ${program("keys", "create", `bench-${scope}-${more.length}`, "--scope", scope, ...more)}`,
  });

  return {
    url,
    person,
    keys: {
      agent: key("agent", "--self-respond"),
      assign: key("assign"),
      executor: key("executor"),
      answer: key("answer"),
      admin: key("admin"),
      person: key("answer", "--person", person),
    },
    async send({ path, headers, body, method = "POST" }) {
      const reply = await fetch(`${url}${path}`, {
        method,
        redirect: "manual",
        body: body as BodyInit,
        headers: { "content-type": "application/json", ...headers },
      });
      const cookie = reply.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
      return { status: reply.status, text: await reply.text(), cookie };
    },
    longestTurn: async () => ((await asked("turn")) as { turn: number }).turn,
    longestTurns: async () => (await asked("turn")) as { turn: number; own: number },
    routes: async () => (await asked("routes")) as string[],
    async link() {
      while (links.length === 0) await once(slack, "told");
      return links.shift() ?? "";
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await once(child, "exit");
      slack.closeAllConnections();
      slack.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function settingsOf(person: string, slack: string): string {
  return `
slack: { bot_token: xoxb-1-1-a, signing_secret: ${SECRETS.slack}, api_url: "${slack}" }
twilio: { account_sid: ${TWILIO_ACCOUNT}, auth_token: ${SECRETS.twilio}, sms_from: "+4930901820", countries: ["+49"],
  api_url: "http://127.0.0.1:9/" }
email: { smtp_url: "smtp://127.0.0.1:9", from: agent@${MAIL_DOMAIN}, hook_secret: ${SECRETS.mail} }
webhook_targets: { desk: { url: "http://127.0.0.1:9/", secret: ${SECRETS.hook}, humans: [${person}] } }
repos: [{ name: shop, worker: true, default: true }]
a2h: { entry_points: { support: { agent: support, inbox: true, email: support@${MAIL_DOMAIN} } } }
`;
}
