import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, CDPSession } from "playwright-core";
import { launchBrowser } from "./chromium.ts";
import { type Served, serve } from "./served.ts";
import { readyForOffline, visit } from "./visitor.ts";

/** The push message that the server sends for a question. It is declarative and never contains the prompt. */
const PUSHED = {
  web_push: 8030,
  notification: {
    title: "A question for you",
    body: "Pick one of 4, about 30 seconds",
    navigate: "/q/q_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
    data: { question_id: "q_4Jx0mT9bVq2Lr7Hs1Zc8Wd", url: "/q/q_4Jx0mT9bVq2Lr7Hs1Zc8Wd", type: "multiple_choice" },
  },
};

describe("notifications", () => {
  let served: Served;
  let browser: Browser;
  before(async () => {
    served = await serve();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await served?.[Symbol.asyncDispose]();
  });

  it("show what was pushed, with the app's own icons", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await readyForOffline(ana.page);
    const [worker] = ana.context.serviceWorkers();
    assert.ok(worker);
    // A headless browser shows no notifications to anybody, so what it is asked to show is kept instead.
    await worker.evaluate(() => {
      const scope = globalThis as unknown as Recorder;
      scope.shown = new Promise((resolve) => {
        scope.registration.showNotification = async (title, options) => resolve({ title, ...options });
      });
    });
    const session = await ana.context.newCDPSession(ana.page);
    const registrationId = await registrationOf(session);
    const data = JSON.stringify(PUSHED);
    await session.send("ServiceWorker.deliverPushMessage", { origin: served.url, registrationId, data });

    assert.deepEqual(await worker.evaluate(() => (globalThis as unknown as Recorder).shown), {
      title: "A question for you",
      body: "Pick one of 4, about 30 seconds",
      tag: "/q/q_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
      icon: "/icons/notification.png",
      badge: "/icons/badge.png",
      data: { url: "/q/q_4Jx0mT9bVq2Lr7Hs1Zc8Wd" },
    });
  });

  it("are turned on, changed and turned off at the server", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.context.grantPermissions(["notifications"]);
    await ana.context.addInitScript(allowNotifications);
    // The page gets a subscription like that of a real push service.
    await ana.context.addInitScript(() => {
      const toJSON = () => ({
        endpoint: "https://push.example.com/send/4Jx0mT9bVq2Lr7Hs1Zc8Wd",
        keys: { p256dh: `B${"A".repeat(86)}`, auth: "A".repeat(22) },
      });
      const given = { toJSON, unsubscribe: async () => true } as unknown as PushSubscription;
      let current: PushSubscription | null = null;
      PushManager.prototype.subscribe = async () => (current = given);
      PushManager.prototype.getSubscription = async () => current;
    });
    const replies: string[] = [];
    ana.page.on("response", (reply) => {
      const { pathname } = new URL(reply.url());
      if (pathname.startsWith("/human/push/")) replies.push(`${reply.request().method()} ${reply.status()}`);
    });
    await ana.page.goto("/me");
    await readyForOffline(ana.page);
    await ana.page.getByRole("button", { name: "Turn on" }).tap();
    await ana.page.getByText("On for this device").waitFor();
    await ana.page.getByLabel("At most one every").selectOption("60");
    await ana.page.getByText("Saved.").waitFor();
    await ana.page.getByRole("button", { name: "Turn off" }).tap();
    await ana.page.getByText("Off", { exact: true }).waitFor();
    assert.deepEqual(replies, ["GET 200", "POST 201", "POST 200", "DELETE 204"]);
  });

  it("say so when this browser cannot be told anything", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone", path: "/me" });
    await ana.page.getByText("Notifications are blocked for this site").waitFor();
  });

  it("say so when the browser's push service is out of reach, and offer to try again", async () => {
    await using ana = await visit(browser, served.url, { screen: "phone" });
    await ana.context.grantPermissions(["notifications"]);
    await ana.context.addInitScript(allowNotifications);
    await ana.page.goto("/me");
    await readyForOffline(ana.page);
    // A browser without a network of its own reaches no push service.
    await ana.page.getByRole("button", { name: "Turn on" }).tap();
    await ana.page.getByRole("alert").getByText("The browser could not be subscribed").waitFor();
    await ana.page.getByRole("button", { name: "Turn on" }).waitFor();
  });
});

interface Recorder {
  registration: { showNotification(title: string, options: NotificationOptions): Promise<void> };
  shown: Promise<unknown>;
}

/** A headless browser calls every permission denied, even one that was granted. */
function allowNotifications(): void {
  Object.defineProperty(Notification, "permission", { get: () => "default" });
}

async function registrationOf(session: CDPSession): Promise<string> {
  const found = new Promise<string>((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [first] = registrations;
      if (first) resolve(first.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  return found;
}
