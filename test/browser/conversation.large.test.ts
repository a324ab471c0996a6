import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { insertConversation, insertMessageIfNew } from "../../src/conversations/store/conversations.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { accepted, callBody, contactBody } from "../support/a2h.ts";
import { openTalking, type Talking } from "../support/conversations.ts";
import type { Reply } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { nameSomebody } from "./inbox-world.ts";
import { assertAccessible, smallTargets } from "./wcag.ts";

const SETTINGS = `
a2h:
  entry_points:
    support: { agent: support, inbox: true, about: Anything about orders }
    desk: { agent: desk, inbox: true }
`;
/** More than two pages hold. */
const MANY = 120;

const button = (page: Page, name: string) => page.getByRole("button", { name });

describe("a conversation in the Inbox room", () => {
  let scene: Talking;
  let browser: Browser;
  before(async () => {
    scene = await openTalking("sqlite", SETTINGS);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await scene?.[Symbol.asyncDispose]();
  });

  it("is begun with an agent of one's choice, and goes on where it was begun", async () => {
    const ana = await nameSomebody(scene.world, "Ana Ruiz");
    await using visitor = await ana.visit(browser, { screen: "phone" });
    const { page } = visitor;
    await page.getByRole("link", { name: "New conversation" }).tap();
    await page.getByRole("heading", { level: 1, name: "New conversation" }).waitFor();
    await page.getByText("Anything about orders").waitFor();
    assert.deepEqual(await page.getByLabel("With").locator("option").allInnerTexts(), ["support", "desk"]);
    await button(page, "Send").tap();
    assert.equal(accepted(await scene.agent.get("/conversations")).items.length, 0);

    await page.getByLabel("What is it about?").fill("Where is order 7?");
    await button(page, "Send").tap();
    await page.getByRole("heading", { level: 1, name: "Conversation with support" }).waitFor();
    await page.getByText("Where is order 7?").waitFor();
    const [said] = await scene.said(1);
    assert.deepEqual(
      [said.spec.message, page.url().split("/").at(-1)],
      ["Where is order 7?", `talk-${said.spec.channel_id}`],
    );

    await page.getByLabel("Say more").fill("It is urgent.");
    await button(page, "Send").tap();
    const [, second] = await scene.said(2);
    assert.deepEqual([second.spec.message, second.spec.channel_id], ["It is urgent.", said.spec.channel_id]);

    const channel = { channel_id: said.spec.channel_id };
    const contact = contactBody({ msg: "Which address shall it go to?", channel });
    accepted(await scene.agent.post("/human_contacts", contact));
    await page.getByLabel("Your answer: Which address shall it go to?").fill("12 Elm Street");
    await button(page, "Send").tap();
    await page.getByText("Answered by you").waitFor();
    const { status } = accepted(await scene.agent.get(`/human_contacts/${contact.call_id}`));
    assert.deepEqual([status.response, status.user_info.name], ["12 Elm Street", "Ana Ruiz"]);

    const call = callBody({ fn: "reroute", channel });
    accepted(await scene.agent.post("/function_calls", call));
    await page.getByText("Something here waits for your decision").waitFor();
    await page.getByRole("link", { name: "Decide" }).tap();
    await button(page, "Approve").tap();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).tap();
    await page.getByRole("status").getByText("Approved by you").waitFor();
    assert.equal(accepted(await scene.agent.get(`/function_calls/${call.call_id}`)).status.approved, true);

    await page.goto("/inbox");
    await page.getByText("1 conversation").tap();
    await page.getByRole("link", { name: /It is urgent/ }).tap();
    await page.getByLabel("Say more").waitFor();
    assert.deepEqual(
      (await page.getByRole("list", { name: "What was said" }).getByRole("listitem").allInnerTexts()).map(
        (text) => text.split("\n").find((line) => !/^(You|support, a program)$/.test(line) && line !== "") ?? "",
      ),
      [
        "Where is order 7?",
        "It is urgent.",
        "Which address shall it go to?",
        "Asks for a decision: Reroute, order A-1007",
      ],
    );
    assert.equal(accepted(await scene.agent.get("/conversations?all=true")).items.length, 2);
  });

  it("keeps words that could not be sent, and sends them once", async () => {
    const bo = await nameSomebody(scene.world, "Bo Lind");
    await using visitor = await bo.visit(browser, { screen: "desk" });
    const { page, context } = visitor;
    await page.goto("/inbox/new");
    await page.getByLabel("With").selectOption("desk");
    await page.getByLabel("What is it about?").fill("The door is stuck.");
    let lost = 0;
    // The server receives the request, and its reply is lost.
    await context.route("**/people/me/conversations", async (route) => {
      if (route.request().method() !== "POST" || lost >= 2) return route.continue();
      lost += 1;
      await route.fetch();
      await route.abort();
    });
    await button(page, "Send").click();
    await page.getByRole("alert").waitFor();
    assert.equal(await page.getByLabel("What is it about?").inputValue(), "The door is stuck.");
    await button(page, "Send").click();
    await page.getByRole("heading", { level: 1, name: "Conversation with desk" }).waitFor();
    const rows = await scene.world.server.ctx.db.all<Reply["body"]>(
      sql`SELECT words FROM conversation_messages WHERE agent = 'agent:desk'`,
    );
    assert.deepEqual(
      rows.map((row) => row.words),
      ["The door is stuck."],
    );

    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    await context.route("**/messages", async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel("Say more").fill("It is urgent.");
    await button(page, "Send").click();
    await page.getByLabel("Say more").fill("And it is cold.");
    letGo();
    await page.getByRole("listitem").getByText("It is urgent.").waitFor();
    assert.equal(await page.getByLabel("Say more").inputValue(), "And it is cold.", "typed while it was sent");
  });

  it("reaches the first of many conversations, and the first words of a long one", async () => {
    const { ctx } = scene.world.server;
    const di = await nameSomebody(scene.world, "Di Moss");
    const first = 50_001;
    const numbers = Array.from({ length: MANY }, (_, i) => first + i);
    await transact(ctx, async (tx) => {
      const target = { via: "person", person: di.id } as const;
      const of = { entry: "desk", agent: "agent:desk", channel: "inbox", person: di.id, opener: null, target } as const;
      for (const number of numbers) await insertConversation(tx, { ...of, number });
    });
    // A request that waits for an answer is shown before all messages.
    await askPeople(ctx, {
      asker: "agent:desk",
      conversation: first,
      audience: toPerson(di.id),
      title: "Shall it be green?",
      digest: null,
      form: { kind: "reply", options: [] },
    });
    await transact(ctx, async (tx) => {
      const say = async (conversation: number, words: string) => {
        const of = { agent: "agent:desk", raw: "{}", followUp: false, source: `test ${words}` };
        await insertMessageIfNew(tx, { ...of, id: ctx.newId("nc"), conversation, words });
      };
      for (const number of numbers) await say(number, `Matter ${number}.`);
      for (let i = 2; i <= MANY; i += 1) await say(first, `Word ${i}.`);
    });
    await using visitor = await di.visit(browser, { screen: "phone" });
    const { page } = visitor;
    await page.getByText(`${MANY} conversations`).tap();
    const talks = page.getByRole("group").getByRole("listitem");
    for (const read of [50, 100, MANY]) {
      await talks.nth(read - 1).waitFor();
      assert.equal(await talks.count(), read);
      if (read < MANY) await button(page, "Show older").tap();
    }
    assert.equal(await button(page, "Show older").count(), 0);
    assert.equal(
      new Set(await talks.getByRole("link").evaluateAll((all) => all.map((one) => one.getAttribute("href")))).size,
      MANY,
    );
    assert.deepEqual(await smallTargets(page), []);
    await page.goto(`/inbox/talk-${first}`);
    const said = page.getByRole("list", { name: "What was said" }).getByRole("listitem");
    await said.getByText(`Word ${MANY}.`).waitFor();
    assert.equal(await said.count(), 50);
    await page.getByLabel("Your answer: Shall it be green?").waitFor();
    for (const read of [100, MANY + 1]) {
      await button(page, "Show earlier").focus();
      await page.keyboard.press("Enter");
      await said.nth(read - 1).waitFor();
      assert.equal(await said.count(), read);
      await page.waitForFunction(() => document.activeElement === document.querySelector("ol > li"));
    }
    assert.equal(await button(page, "Show earlier").count(), 0);
    await said.getByRole("link", { name: "Answer" }).waitFor();
  });

  it("holds nothing that axe finds, in either theme, and is made for thumbs", async () => {
    const cy = await nameSomebody(scene.world, "Cy Gray");
    await using visitor = await cy.visit(browser, { screen: "phone" });
    const { page } = visitor;
    await page.goto("/inbox/new");
    await page.getByLabel("What is it about?").fill("Hello");
    await button(page, "Send").tap();
    await page.getByText("Hello", { exact: true }).waitFor();
    for (const path of [page.url(), "/inbox/new", "/inbox"]) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      if (path === "/inbox") await page.getByText("1 conversation").tap();
      // On a phone the tabs lie over what is not scrolled to yet, which is therefore no target.
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      await assertAccessible(page, path);
      assert.deepEqual(await smallTargets(page), []);
    }
  });
});
