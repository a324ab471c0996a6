import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before } from "node:test";
import type { Browser } from "playwright-core";
import { createKey } from "../../src/access/create-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../support/identities.ts";
import { openSink, type Sink } from "../channels/mail.ts";
import { until } from "../support/contract.ts";
import { fillRelay, type FilledRelay } from "./console-relay-screens.ts";
import { openWorld, type Reply, type World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { atRest, type Look, type Visitor, visit } from "./visitor.ts";

/** A server with people, keys, a mail account and agents' webhooks, as an admin finds it on an ordinary day. */
export interface FilledConsole extends AsyncDisposable {
  world: World;
  mail: Sink;
  /** Sets the status with which agents' servers answer events, and whether the one that is gone is back; holds the events. */
  agents: { answer: () => number | Promise<number>; isBack: boolean; told: string[] };
  /** Ids of people. */
  ana: string;
  gone: string;
  key: string;
  endpoint: string;
  relay: FilledRelay;
  asAdmin(method: string, path: string, body?: unknown): Promise<Reply>;
}

const A2H = "/a2h/v1alpha1";

export async function fillConsole(): Promise<FilledConsole> {
  const mail = await openSink();
  const agents: FilledConsole["agents"] = { answer: () => 200, isBack: false, told: [] };
  const told = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", () => {
      agents.told.push(text);
      const status = request.url === "/gone" && !agents.isBack ? 410 : agents.answer();
      void Promise.resolve(status).then((code) => response.writeHead(code).end());
    });
  });
  told.listen(0, "127.0.0.1");
  await once(told, "listening");
  const origin = `http://127.0.0.1:${(told.address() as AddressInfo).port}`;

  const env = {
    PARLEY_EMAIL_SMTP_URL: mail.url,
    PARLEY_EMAIL_FROM: "Parley <parley@parley.example>",
    PARLEY_ASK_A_HUMAN_LIMITS_HUMAN_READS_PER_HOUR: "100000",
  };
  const world = await openWorld({ on: "sqlite", running: true, env });
  const { ctx } = world.server;
  const { text } = await createKey(ctx, { name: "setup", scope: "admin", expiresInMs: 86_400_000 });
  const asAdmin: FilledConsole["asAdmin"] = async (method, path, body) => {
    const headers = { authorization: `Bearer ${text}` };
    const reply = await world.call(method, path, { headers, ...(body !== undefined && { body }) });
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  };
  const enrol = async (name: string, address: string, more: object = {}): Promise<string> => {
    const prioritizedContactChannels = [{ email: { address } }, { inbox: {} }];
    return (await asAdmin("POST", `${A2H}/humans`, { name, prioritizedContactChannels, ...more })).body.id;
  };
  const ana = await enrol("Ana Ruiz", "ana@people.example", {
    role: "Finance lead",
    description: "Knows billing and refunds",
  });
  const gone = await enrol("Bo Lind", "gone@people.example");
  await createKey(ctx, { name: "support", scope: "agent", person: ana });
  const { key } = await createKey(ctx, { name: "my-terminal", scope: "answer", person: ana });

  const endpoint = async (agent: string, path: string): Promise<string> => {
    const input = { agent, url: origin + path, format: "v1beta2", description: "Wakes the planner" };
    return (await asAdmin("POST", `${A2H}/webhook_endpoints`, input)).body.id;
  };
  const hears = await endpoint("support", "/hooks");
  const isGone = await endpoint("release-notes", "/gone");
  await asAdmin("POST", `${A2H}/webhook_endpoints/${isGone}/test`);
  await asAdmin("POST", `${A2H}/webhook_endpoints/${hears}/test`);
  await until(async () => {
    const { body } = await asAdmin("GET", `${A2H}/webhook_endpoints/${isGone}`);
    const { items } = (await asAdmin("GET", `${A2H}/webhook_endpoints/${hears}/deliveries`)).body;
    return body.enabled === false && items[0].state === "delivered";
  });
  const relay = await fillRelay(world);
  return {
    relay,
    world,
    mail,
    agents,
    ana,
    gone,
    key: key.id,
    endpoint: hears,
    asAdmin,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await mail[Symbol.asyncDispose]();
      told.closeAllConnections();
      told.close();
    },
  };
}

/** Opens the console, signed in as the operator. */
export async function visitConsole(
  browser: Browser,
  { world }: Pick<FilledConsole, "world">,
  look: Look,
  path = "/console",
): Promise<Visitor> {
  const { code } = await createSignInLink(world.server.ctx, OPERATOR);
  const visitor = await visit(browser, world.url, { ...look, path: `/console#start=${code}` });
  await visitor.page.getByText("Signed in as operator (admin)").waitFor();
  if (path !== "/console") await visitor.page.goto(path);
  return visitor;
}

/** A filled console, and a browser that an admin opens it in. */
export interface ConsoleScene {
  filled: FilledConsole;
  browser: Browser;
  visit(look: Look, path?: string): Promise<Visitor>;
}

/** Fills a console before the tests of the suite that this is called in, and closes it after them. */
export function sharedConsole(): () => ConsoleScene {
  let scene: Partial<Omit<ConsoleScene, "visit">> = {};
  before(async () => {
    scene = { filled: await fillConsole() };
    scene.browser = await launchBrowser();
  });
  after(async () => {
    await scene.browser?.close();
    await scene.filled?.[Symbol.asyncDispose]();
  });
  return () => {
    const { filled, browser } = scene;
    if (!filled || !browser) throw new Error("the console is open only while its tests run");
    return { filled, browser, visit: (look, path) => visitConsole(browser, filled, look, path) };
  };
}

/** One look of the console, and how to get there. */
export interface ConsoleView {
  name: string;
  path(filled: FilledConsole): string;
  open(visitor: Visitor): Promise<void>;
}

const heading = async ({ page }: Visitor, name: string | RegExp): Promise<void> => {
  await page.getByRole("heading", { name }).first().waitFor();
};

export const CONSOLE_VIEWS: readonly ConsoleView[] = [
  {
    name: "console-overview",
    path: () => "/console",
    open: async ({ page }) => page.getByText("2 decisions kept").waitFor(),
  },
  {
    name: "console-checklist",
    path: () => "/console/setup",
    open: (visitor) => heading(visitor, "Checklist"),
  },
  {
    name: "console-live",
    path: () => "/console/live",
    open: (visitor) => heading(visitor, "Newest jobs"),
  },
  {
    name: "console-asks",
    path: () => "/console/asks",
    open: async ({ page }) => page.getByRole("link", { name: /drops orders/ }).waitFor(),
  },
  {
    name: "console-ask",
    path: ({ relay }) => `/console/asks/${relay.waiting}`,
    open: async ({ page }) => page.getByRole("link", { name: "Open it in the inbox" }).waitFor(),
  },
  {
    name: "console-ask-denied",
    path: ({ relay }) => `/console/asks/${relay.denied}`,
    async open({ page }) {
      await page.getByText("Why the policy says so").click();
    },
  },
  {
    name: "console-jobs",
    path: () => "/console/jobs",
    open: async ({ page }) => page.getByRole("link", { name: /release-2041/ }).waitFor(),
  },
  {
    name: "console-job",
    path: ({ relay }) => `/console/jobs/${relay.job}`,
    open: async ({ page }) =>
      page
        .getByText(/^ask.created/)
        .first()
        .waitFor(),
  },
  {
    name: "console-policy",
    path: () => "/console/policy",
    async open({ page }) {
      await page.getByLabel("Action").fill("write");
      await page.getByRole("button", { name: "Try", exact: true }).click();
      await page.getByRole("region", { name: "Verdict" }).waitFor();
    },
  },
  {
    name: "console-cache",
    path: () => "/console/cache",
    open: async ({ page }) => page.getByText("repeated 12 times").waitFor(),
  },
  {
    name: "console-people",
    path: () => "/console/people",
    open: async ({ page }) => page.getByRole("link", { name: "Ana Ruiz" }).waitFor(),
  },
  {
    name: "console-person",
    path: ({ ana }) => `/console/people/${ana}`,
    open: (visitor) => heading(visitor, "Ana Ruiz"),
  },
  {
    name: "console-person-link",
    path: ({ ana }) => `/console/people/${ana}`,
    async open({ page }) {
      await page.getByRole("button", { name: "Make a sign-in link" }).click();
      await page.getByRole("region", { name: "Sign-in link" }).waitFor();
    },
  },
  {
    name: "console-person-remove",
    path: ({ ana }) => `/console/people/${ana}`,
    async open({ page }) {
      await page.getByRole("button", { name: "Remove", exact: true }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "console-keys",
    path: () => "/console/keys",
    open: async ({ page }) => page.getByRole("link", { name: "support" }).waitFor(),
  },
  {
    name: "console-key",
    path: ({ key }) => `/console/keys/${key}`,
    open: (visitor) => heading(visitor, "my-terminal"),
  },
  { name: "console-key-new", path: () => "/console/keys/new", open: (visitor) => heading(visitor, "New key") },
  {
    name: "console-key-made",
    path: () => "/console/keys/new",
    async open({ page }) {
      await page.getByLabel("Name").fill("build-bot");
      await page.getByRole("button", { name: "Make the key" }).click();
      await page.getByRole("region", { name: "Your new key" }).waitFor();
    },
  },
  {
    name: "console-channels",
    path: () => "/console/channels",
    open: async ({ page }) => page.getByRole("link", { name: "Email" }).waitFor(),
  },
  {
    name: "console-channel",
    path: () => "/console/channels/email",
    async open({ page }) {
      await page.getByRole("button", { name: "Send a test message" }).click();
      await page.getByText("the provider took it").waitFor();
    },
  },
  {
    name: "console-channel-off",
    path: () => "/console/channels/slack",
    open: (visitor) => heading(visitor, "Slack"),
  },
  {
    name: "console-webhooks",
    path: () => "/console/webhooks",
    open: async ({ page }) => page.getByRole("link", { name: "release-notes" }).waitFor(),
  },
  {
    name: "console-webhook",
    path: ({ endpoint }) => `/console/webhooks/${endpoint}`,
    open: async ({ page }) =>
      page
        .getByRole("button", { name: /Tell it again/ })
        .first()
        .waitFor(),
  },
  {
    name: "console-audit",
    path: () => "/console/audit",
    async open({ page }) {
      await page.getByText("follows from the one before").waitFor();
      await page.locator("summary").first().click();
    },
  },
  {
    name: "console-health",
    path: () => "/console/health",
    open: (visitor) => heading(visitor, "Promises"),
  },
];

/** Shows one view in a tab that is signed in. */
export async function showConsole(visitor: Visitor, filled: FilledConsole, view: ConsoleView): Promise<void> {
  await visitor.page.goto(view.path(filled));
  await view.open(visitor);
  await atRest(visitor.page);
}
