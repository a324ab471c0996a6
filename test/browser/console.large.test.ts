import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { sql } from "../../src/core/store/sql.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { until } from "../support/contract.ts";
import { sharedConsole } from "./console-screens.ts";
import { nameSomebody } from "./inbox-world.ts";
import { visit } from "./visitor.ts";

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
const link = (page: Page, name: string | RegExp) => page.getByRole("link", { name });
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name });

describe("the Console", () => {
  const scene = sharedConsole();

  it("is for admins: others are told so, and the crowd never loads it", async () => {
    const cleo = await nameSomebody(scene().filled.world, "Cleo Park");
    await using member = await cleo.visit(scene().browser, { screen: "phone" });
    assert.equal(await link(member.page, "Run").count(), 0);
    await member.page.goto("/console/keys");
    await heading(member.page, "The console is for admins").waitFor();
    await link(member.page, "Open the inbox").click();
    await member.page.getByText("Signed in as Cleo Park").waitFor();

    await using stranger = await visit(scene().browser, scene().filled.world.url, { screen: "phone" });
    const loaded: string[] = [];
    stranger.page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
    await stranger.page.goto("/me");
    await stranger.page.getByRole("heading", { name: "You", exact: true }).waitFor();
    assert.ok(loaded.some((path) => path.endsWith(".js")));
    assert.deepEqual(
      loaded.filter((path) => path.includes("console")),
      [],
    );
    await stranger.page.goto("/console/people");
    await heading(stranger.page, "Nobody is signed in").waitFor();
  });

  it("groups its pages on a phone, with the state of each beside it", async () => {
    await using admin = await scene().visit({ screen: "phone" });
    const { page } = admin;
    const all = page.getByRole("navigation", { name: "All pages" });
    assert.deepEqual(await all.getByRole("heading").allTextContents(), ["Now", "Work", "Rules", "Setup"]);
    const state = (name: string) => all.getByRole("listitem").filter({ has: link(page, name) });
    for (const [name, says] of [
      ["What waits", /2 wait, oldest /],
      ["Asks", /1 waits, oldest /],
      ["Policy", /1 rule, 1 proposed/],
      ["Cache", /2 decisions kept/],
      ["People", /\d people, 1 admin/],
      ["Channels", /Email not tried/],
      ["Webhooks", /2 addresses, 1 disabled/],
      ["Assignments", /Not set up/],
    ] as const) {
      await state(name).getByText(says).waitFor();
    }
    await link(page, "Checklist").click();
    const steps = page.getByRole("listitem");
    await steps.filter({ hasText: "People who decide" }).getByText("Done").waitFor();
    await steps.filter({ hasText: "Messages to them" }).getByText("Slack: not set up").waitFor();
    await link(page, "Coding agents").click();
    await heading(page, "Agents get no work here").waitFor();
  });

  it("says that something could not be read, and that it is not there only where that is so", async () => {
    await using admin = await scene().visit({ screen: "desk" }, "/console/jobs");
    const { page } = admin;
    let isDown = true;
    await page.route(/^https?:\/\/[^/]+\/jobs\/J-none/, (route) => (isDown ? route.abort() : route.continue()));
    await page.goto("/console/jobs/J-none");
    await heading(page, "No connection to the server").waitFor();
    isDown = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await heading(page, "There is nothing here").waitFor();
  });

  it("shows what waits, for whom and how long, and follows it", async () => {
    await using admin = await scene().visit({ screen: "desk" }, "/console/live");
    const { page } = admin;
    await page.getByText(/^2 requests wait, the oldest for /).waitFor();
    await link(page, /A webhook of release-notes is disabled.*for operator.*waits .*left/).waitFor();
    const { ctx } = scene().filled.world.server;
    const form = { kind: "reply" as const, options: [] };
    const words = { title: "Which plan?", words: "Which plan?", digest: null, form };
    const asked = await askPeople(ctx, { ...words, audience: toPerson(scene().filled.ana) });
    await page.getByText(/^3 requests wait, /).waitFor();
    await link(page, /Which plan\?.*for Ana Ruiz/).waitFor();
    await cancelRequest(ctx, asked.id, { kind: "agent", id: asked.asker });
    await page.getByText(/^2 requests wait, /).waitFor();
  });

  it("adds somebody on a phone, lets them in by a link, changes and removes them", async () => {
    await using admin = await scene().visit({ screen: "phone" });
    const { page } = admin;
    await link(page, "People").click();
    await link(page, "Add somebody").click();
    await page.getByLabel("Name").fill("Dora Vance");
    await page.getByLabel("Title").fill("On call");
    await button(page, "Add another way").click();
    await page.getByLabel("Way 1: Mail address").fill("not an address");
    await page.getByLabel("May run this server").check();
    await button(page, "Save").click();
    await page
      .getByRole("alert")
      .getByText(/must be one mail address/)
      .waitFor();
    await page.getByLabel("Way 1: Mail address").fill("dora@people.example");
    await button(page, "Add another way").click();
    await page.getByLabel("Way 2", { exact: true }).selectOption("Inbox");
    await button(page, "Move Way 2 up").click();
    await button(page, "Save").click();
    await heading(page, "Dora Vance").waitFor();

    await button(page, "Make a sign-in link").click();
    const url = await page.getByRole("region", { name: "Sign-in link" }).innerText();
    assert.match(url, /\/console#start=/, "an admin arrives in the console");
    await using dora = await visit(scene().browser, scene().filled.world.url, { screen: "desk", path: url });
    await dora.page.getByText("Signed in as Dora Vance (admin)").waitFor();

    await page.reload();
    await page.getByText("Signed in on 1 device.").waitFor();
    assert.equal(await page.getByLabel("Way 1", { exact: true }).inputValue(), "inbox");
    assert.equal(await page.getByLabel("Way 2: Mail address").inputValue(), "dora@people.example");
    await page.getByLabel("May run this server").uncheck();
    await button(page, "Save").click();
    await page.getByText("Saved.").waitFor();
    await dora.page.goto("/console/people");
    await heading(dora.page, "The console is for admins").waitFor();

    await button(page, "Sign out everywhere").click();
    await page.getByText("Signed in nowhere.").waitFor();
    await dora.page.goto("/inbox");
    await heading(dora.page, "Sign in to see your inbox").waitFor();

    await button(page, "Remove").last().click();
    await heading(page, "Remove Dora Vance?").waitFor();
    await button(page, "Remove them").click();
    await heading(page, "People").waitFor();
    await link(page, /Dora Vance/).waitFor({ state: "detached" });
    await page.goBack();
    await heading(page, "There is nothing here").waitFor();
  });

  it("shows a new key once, and ends it", async () => {
    await using admin = await scene().visit({ screen: "desk" }, "/console/keys");
    const { page } = admin;
    await link(page, "New key").click();
    await page.getByLabel("Name").fill("nightly build");
    await button(page, "Make the key").click();
    await page.getByRole("alert").getByText("1 to 128 visible ASCII characters").waitFor();
    await page.getByLabel("Name").fill("nightly-build");
    await page.getByLabel("Whose").selectOption("Ana Ruiz");
    await page.getByLabel("Good for").selectOption("30 days");
    await button(page, "Make the key").click();
    const text = await page.getByRole("region", { name: "Your new key" }).innerText();
    assert.match(text, /^parley_agent_\w{38}$/);
    const asks = async () => {
      const headers = { authorization: `Bearer ${text}` };
      return (await scene().filled.world.call("GET", "/agent/questions?status=OPEN", { headers })).status;
    };
    await page.getByRole("status").getByText("Not used yet.").waitFor();
    const line = await page.getByRole("region", { name: "Ask a first question with it" }).innerText();
    assert.ok(line.startsWith(`curl ${scene().filled.world.url}/agent/questions`) && line.includes(text), line);
    assert.equal(await asks(), 200);
    await page.getByRole("status").getByText("It was used").waitFor();

    const isSeen = async () => (await page.content()).includes(text.slice(13));
    assert.ok(await isSeen());
    await link(page, "I have copied it").click();
    await link(page, /nightly-build/).click();
    await heading(page, "nightly-build").waitFor();
    assert.ok(!(await isSeen()));
    await page.goBack();
    await page.goBack();
    await heading(page, "New key").waitFor();
    assert.ok(!(await isSeen()), "not even by going back");

    await link(page, /nightly-build/).click();
    await page.reload();
    await heading(page, "nightly-build").waitFor();
    assert.equal(await page.getByText("Not used yet").count(), 0);
    await button(page, "Revoke").click();
    await button(page, "Revoke it").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await asks(), 401);
    await link(page, /nightly-build/).waitFor({ state: "detached" });
    await page.getByLabel("All", { exact: true }).check();
    await link(page, /nightly-build.*Revoked/).waitFor();
  });

  it("sends a real test message, and says what the mail server said and who answered", async () => {
    const before = scene().filled.mail.taken.length;
    await using admin = await scene().visit({ screen: "phone" });
    const { page } = admin;
    await link(page, "Channels").click();
    await link(page, /SMS.*Not configured/).waitFor();
    await link(page, /Email/).click();
    await page.getByLabel("To", { exact: true }).selectOption("Ana Ruiz");
    await button(page, "Send a test message").click();
    await page.getByText("Sent: the provider took it.").waitFor();
    const mail = scene().filled.mail.taken.at(-1);
    assert.deepEqual([scene().filled.mail.taken.length, mail?.to], [before + 1, ["ana@people.example"]]);

    const address = /http:\/\/\S+\/r\/\S+/.exec(mail?.mail.text ?? "")?.[0] ?? assert.fail("no link");
    await using ana = await visit(scene().browser, scene().filled.world.url, {
      screen: "phone",
      path: new URL(address).pathname,
    });
    await button(ana.page, "Continue").click();
    await ana.page.getByLabel("It arrived").check();
    const code = /code: (\w{4})\b/.exec(mail?.mail.text ?? "")?.[1] ?? assert.fail("no code");
    await ana.page.getByLabel("Code").fill(code);
    // A decision that is faster than a person can read is taken for a machine's.
    await ana.page.waitForTimeout(1100);
    await button(ana.page, "Send").click();
    await ana.page.getByRole("status").waitFor();
    await page.getByText("It works there and back.").waitFor();

    await page.getByLabel("To", { exact: true }).selectOption("Bo Lind");
    await button(page, "Send another").click();
    await page.getByText("Not sent: 550.").waitFor();
    await link(page, "Back").click();
    await link(page, /Email.*The last message failed/).waitFor();
  });

  it("follows what agents are told, tells it again, and enables what was disabled", async () => {
    await using admin = await scene().visit({ screen: "desk" }, "/console/webhooks");
    const { page, context } = admin;
    await link(page, /support/).click();
    const [before, rows] = [
      scene().filled.agents.told.length,
      page.getByRole("listitem").filter({ hasText: "attempt" }),
    ];
    await rows.first().waitFor();
    assert.match(await rows.first().locator("p").first().innerText(), /^[A-Z][a-z ]+: [a-z ]+$/);
    const known = await rows.count();
    // The next attempt is not answered before this one has been seen to fail.
    const { promise: answered, resolve: answer } = Promise.withResolvers<number>();
    let attempts = 0;
    scene().filled.agents.answer = () => (++attempts === 1 ? 500 : answered);
    await button(page, "Send a test event").click();
    await rows.filter({ hasText: /Waiting.*1 attempt.*status 500.*next/ }).waitFor();
    answer(200);
    await rows.filter({ hasText: /Delivered.*2 attempts/ }).waitFor();
    assert.equal(await rows.count(), known + 1);
    await button(page, "Tell it again").first().click();
    while (scene().filled.agents.told.length < before + 3) await page.waitForTimeout(50);

    await page.goto("/inbox");
    const notice = link(page, /A webhook of release-notes is disabled/);
    await notice.first().click();
    await page.getByText("Seen", { exact: true }).click();
    await button(page, /^Send/).click();
    await page.goto("/console/webhooks");
    await link(page, /release-notes.*Disabled/).click();
    await page.getByText("Nothing is told there").waitFor();
    // Its event is tried again at once if that is due by now: gone still, it would be disabled once more.
    scene().filled.agents.isBack = true;
    await button(page, "Enable it").click();
    await button(page, "Disable it").waitFor();
    await context.setOffline(true);
    await button(page, "Disable it").click();
    await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
    await context.setOffline(false);
    await button(page, "Disable it").click();
    await button(page, "Enable it").waitFor();
  });

  it("says what does not arrive, since when and why, in place of that everything holds", async () => {
    scene().filled.agents.answer = () => 500;
    const endpoint = `/a2h/v1alpha1/webhook_endpoints/${scene().filled.endpoint}`;
    await scene().filled.asAdmin("POST", `${endpoint}/test`);
    await scene().filled.asAdmin("POST", "/admin/channel_tests", { channel: "email", person: scene().filled.gone });
    await until(async () => {
      const [{ body }, channels] = [
        await scene().filled.asAdmin("GET", endpoint),
        await scene().filled.asAdmin("GET", "/admin/channels"),
      ];
      const email = channels.body.channels.find(({ channel }: { channel: string }) => channel === "email");
      return body.failing_since !== null && email.failed > 0;
    });
    await using admin = await scene().visit({ screen: "desk" });
    const { page } = admin;
    const row = (name: string | RegExp) => page.getByRole("listitem").filter({ has: link(page, name) });
    await row("Health")
      .getByText(/^\d deliver(y|ies) failing$/)
      .waitFor();
    await row("Webhooks")
      .getByText(/1 failing/)
      .waitFor();
    await row("Channels")
      .getByText(/Email fails/)
      .waitFor();
    await row("Health").getByRole("link").click();
    await heading(page, "Not everything arrives").waitFor();
    await row("Webhook of support")
      .getByText(/^Nothing was taken there since .*; last error: status 500\.$/)
      .waitFor();
    await row("Email")
      .getByText(/message.* given up since .*; last error: 550/)
      .waitFor();
    await link(page, "Webhook of support").click();
    await page.getByRole("article").getByText("Deliveries fail", { exact: true }).waitFor();
    assert.equal(await page.getByText("Enabled", { exact: true }).count(), 0);
    await link(page, /support.*Deliveries fail/).waitFor();

    scene().filled.agents.answer = () => 200;
    await button(page, "Send a test event").click();
    await link(page, /support.*Enabled/).waitFor();
  });

  it("reads the record from its end, filters it, and says when it was changed", async () => {
    for (let i = 0; i < 60; i += 1) {
      await scene().filled.asAdmin("PATCH", `/admin/people/${scene().filled.gone}`, { role: "member" });
    }
    await using admin = await scene().visit({ screen: "phone" }, "/console/audit");
    const { page } = admin;
    await page.getByText(/^Whole: each of \d+ entries/).waitFor();
    const entries = page.locator("details");
    await entries.nth(49).waitFor();
    assert.equal(await entries.count(), 50);
    await button(page, "Show older").click();
    await entries.nth(59).waitFor();
    await entries.first().locator("summary").click();
    await page.getByText('"action": "human.updated"').first().waitFor();
    await entries.filter({ hasText: "Person: updated" }).first().waitFor();

    await page.getByLabel("Action").fill("human.created");
    await button(page, "Filter").click();
    await page.getByText("human.updated").first().waitFor({ state: "detached" });
    await entries.filter({ hasText: "Person: created" }).first().waitFor();
    await page.getByLabel("Agent").fill("nobody");
    await button(page, "Filter").click();
    await heading(page, "Nothing like this is in the record").waitFor();
    await button(page, "Show all").click();
    await entries.nth(49).waitFor();

    const { db } = scene().filled.world.server.ctx;
    const change = (from: string, to: string) =>
      db.transact((tx) => tx.all(sql`UPDATE audit SET entry = replace(entry, ${from}, ${to}) WHERE seq = 2`));
    await change("created", "cr3ated");
    await page.reload();
    await page.getByText("Changed: entry 2 does not follow from the one before.").waitFor();
    await page.goto("/console/health");
    await heading(page, "Promises").waitFor();
    assert.equal(await heading(page, "Something is broken").count(), 0);
    await button(page, "Examine every row").click();
    await heading(page, "Something is broken").waitFor();
    await page.getByText("entry 2").waitFor();
    await change("cr3ated", "created");
  });

  it("is walked by keyboard, list beside detail", async () => {
    await using admin = await scene().visit({ screen: "desk" }, "/console/people");
    const { page } = admin;
    await page.getByText("Choose one on the left.").waitFor();
    // There is nothing to go to before the list is there.
    await link(page, /Ana Ruiz/).waitFor();
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: "operator", level: 1 }).waitFor();
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: "Ana Ruiz", level: 1 }).waitFor();
    await link(page, /Bo Lind/).waitFor();
    await page.waitForFunction(() => document.activeElement?.hasAttribute("data-focus"));
    await page.keyboard.press("k");
    await page.getByRole("heading", { name: "operator", level: 1 }).waitFor();
    await page.getByLabel("May run this server").isDisabled();
    await page.getByLabel("Name").press("j");
    await page.getByRole("heading", { name: "operator", level: 1 }).waitFor();

    await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Keys" }).press("Enter");
    await heading(page, "Keys").waitFor();
    assert.equal(new URL(page.url()).pathname, "/console/keys");
    await button(page, "Revoke").waitFor({ state: "detached" });
    await link(page, /my-terminal/).press("Enter");
    const revoke = button(page, "Revoke");
    await revoke.waitFor();
    // A page that has just come takes the focus to its beginning once.
    await until(async () => {
      if (await heading(page, "Revoke my-terminal?").isVisible()) return true;
      await revoke.press("Enter");
      await page.waitForTimeout(200);
      return false;
    });
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // The focus is given back.
    await revoke.and(page.locator(":focus")).waitFor();
  });
});
