import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, endOn, type Named, nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { pressKey, pressUntil, readyForOffline, row, visit } from "./visitor.ts";

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
const dialog = (page: Page) => page.getByRole("dialog");
/** Nothing decides before what decides has been on screen for a moment. */
const canDecide = (page: Page) => dialog(page).locator("button[type=submit][aria-disabled=false]").waitFor();

describe("the Inbox room", () => {
  let world: World;
  let browser: Browser;
  let ana: Named;
  let bo: Named;
  before(async () => {
    [world, browser] = [await openInboxWorld(), await launchBrowser()];
    [ana, bo] = [await nameSomebody(world, "Ana Ruiz"), await nameSomebody(world, "Bo Lind")];
  });
  after(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });
  const both = () => ({ kind: "any" as const, of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) });
  const ask = (more: Parameters<typeof askPeople>[1] = {}) =>
    askPeople(world.server.ctx, { audience: both(), ...more });
  const outcomeOf = async (id: string) => (await readRequest(world.server.ctx, id)).outcome;
  const answerAsBo = async (id: string, decision: Parameters<typeof decideRequest>[1]["decision"]) => {
    const { ctx } = world.server;
    await decideRequest(ctx, { requestId: id, responder: await responderOf(ctx.db, bo.id, "slack"), decision });
  };

  it("tells whoever is not signed in what to do, and signs in with a link that leaves no code behind", async () => {
    await using stranger = await visit(browser, world.url, { screen: "phone", path: "/inbox" });
    await stranger.page.getByRole("heading", { name: "Sign in to see your inbox" }).waitFor();
    await stranger.page.getByText("parley link").waitFor();
    assert.equal(await stranger.page.getByRole("link", { name: "Inbox" }).count(), 1);

    await using visitor = await ana.visit(browser, { screen: "phone" });
    assert.equal(visitor.page.url(), `${world.url}/inbox`);
    await visitor.page.goto("/");
    await visitor.page.getByRole("link", { name: "Inbox" }).waitFor();
  });

  it("approves on a phone after showing every argument in full, however long", async () => {
    const long = Array.from({ length: 2500 }, (_, i) => `Paragraph ${i} of forty characters and so on`).join("\n");
    assert.ok(long.length > 100_000);
    const kwargs = { amount: 49.9, body: long, last: "the end", nested: { deep: [1, { er: null }] } };
    const made = await ask(callOf("send_letter", kwargs));
    await using visitor = await ana.visit(browser, { screen: "phone" });
    await row(visitor.page, "Send letter").tap();
    const { page } = visitor;
    await page.getByRole("heading", { level: 1, name: "Send letter" }).waitFor();
    assert.match(await page.title(), /^(?:\(\d+\) )?Send letter\b/);
    assert.equal(await page.getByText("send_letter", { exact: true }).count(), 1, "the function stands below it");

    const body = page.getByRole("region", { name: "Value of body" });
    assert.equal(await body.innerText(), long);
    const scrolls = await body.evaluate((box) => box.scrollHeight > box.clientHeight && box.clientHeight < 400);
    assert.ok(scrolls, "a long value scrolls in a box of its own");
    await button(page, "Raw").tap();
    assert.equal(JSON.parse((await body.innerText()).replaceAll("\n", "")), long);
    const order = await page.evaluate(() =>
      [...document.querySelectorAll("dl[aria-label=Arguments] dt, figcaption, article button")].map(
        (one) => one.textContent?.split(" ")[0],
      ),
    );
    assert.deepEqual(order.slice(0, 3), ["Snooze", "Hand", "Ask"], "the rest stands below the header");
    assert.deepEqual(order.slice(3, 11), ["Raw", "amount", "body", "last", "nested", "In", "Reject", "Approve"]);
    const [width, has] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok((width ?? 0) <= (has ?? 0));

    await button(page, "Approve").tap();
    await dialog(page).getByRole("heading", { name: "Approve send_letter?" }).waitFor();
    assert.equal(await outcomeOf(made.id), null);
    await dialog(page).getByLabel("Comment").fill("Nicely put");
    // A text this long counts as risky.
    await dialog(page).getByLabel("Or type send_letter").fill("send_letter");
    await dialog(page).getByRole("button", { name: "Approve", exact: true }).tap();
    await endOn(page, "Approved by you").waitFor();
    const outcome = await outcomeOf(made.id);
    assert.deepEqual([outcome?.approved, outcome?.comment, outcome?.digest], [true, "Nicely put", made.digest]);
  });

  it("rejects with a reason, or by a way the agent offers", async () => {
    const rejectOptions = [
      { name: "cheap", title: "Too expensive", promptFill: "Find a cheaper one.", interactive: false },
      { name: "later", title: "Not now", promptFill: "Ask again on ", interactive: true },
    ];
    const first = await ask(callOf("buy", { what: "a boat" }));
    const second = await ask(callOf("buy", { what: "a yacht" }, { rejectOptions }));
    const third = await ask(callOf("buy", { what: "a ship" }, { rejectOptions }));
    await using visitor = await ana.visit(browser, { screen: "phone", ask: first });
    const { page } = visitor;
    await button(page, "Reject").tap();
    await dialog(page).getByLabel("Reason").fill("We live on a mountain");
    await dialog(page).getByRole("button", { name: "Reject" }).tap();
    await endOn(page, "Rejected by you").waitFor();
    assert.equal((await outcomeOf(first.id))?.comment, "We live on a mountain");

    const reason = dialog(page).getByLabel("Reason");
    const offered = (title: string) => dialog(page).getByRole("radio", { name: title });
    await page.goto(`/inbox/${second.id}`);
    await button(page, "Reject").tap();
    await dialog(page).getByText("Too expensive").tap();
    assert.equal(await offered("Too expensive").isChecked(), true);
    await dialog(page).getByRole("button", { name: "Reject" }).tap();
    await endOn(page, "Rejected by you").waitFor();
    const cheap = await outcomeOf(second.id);
    assert.deepEqual([cheap?.option, cheap?.comment], ["cheap", "Find a cheaper one."]);

    await page.goto(`/inbox/${third.id}`);
    await button(page, "Reject").tap();
    await dialog(page).getByText("Not now").tap();
    assert.equal(await reason.inputValue(), "Ask again on ");
    const [wayAt, reasonAt] = [await offered("Not now").boundingBox(), await reason.boundingBox()];
    assert.ok((wayAt?.y ?? Infinity) < (reasonAt?.y ?? 0), "what the agent offers comes first");
    assert.equal((await readRequest(world.server.ctx, third.id)).state, "open");
    await reason.fill("Ask again on Monday");
    await dialog(page).getByRole("button", { name: "Reject" }).tap();
    await endOn(page, "Rejected by you").waitFor();
    const later = await outcomeOf(third.id);
    assert.deepEqual([later?.option, later?.comment], ["later", "Ask again on Monday"]);
  });

  it("proposes other arguments, as JSON in the reason, where the agent lets nobody change them", async () => {
    const made = await ask(callOf("pay", { amount: 500, to: "Bo" }));
    await using visitor = await ana.visit(browser, { screen: "phone", ask: made });
    const { page } = visitor;
    await button(page, "Reject").tap();
    const reason = dialog(page).getByLabel("Reason");
    await reason.fill("Half of it:");
    await dialog(page).getByRole("button", { name: "Propose other arguments" }).tap();
    const proposed = 'Half of it:\n\n{\n  "amount": 500,\n  "to": "Bo"\n}';
    assert.equal(await reason.inputValue(), proposed);
    await reason.fill(proposed.replace("500", "250"));
    await dialog(page).getByRole("button", { name: "Reject", exact: true }).tap();
    await endOn(page, "Rejected by you").waitFor();
    const outcome = await outcomeOf(made.id);
    assert.deepEqual([outcome?.approved, outcome?.comment], [false, proposed.replace("500", "250")]);
  });

  it("lets arguments be changed before they are approved, where the agent allows it", async () => {
    const made = await ask(callOf("pay", { amount: 500, to: "Bo" }, { editable: true }));
    await using visitor = await ana.visit(browser, { screen: "desk", ask: made });
    const { page } = visitor;
    await page.getByText("Change the arguments").click();
    const box = page.getByLabel("Arguments as JSON");
    await box.fill('{"amount": 50, "to": ');
    await page.getByText("This is not valid JSON.").waitFor();
    await button(page, "Approve with changes").click({ force: true });
    assert.equal(await page.locator("dialog[open]").count(), 0);
    await box.fill('{"amount": 50, "to": "Bo"}');
    await button(page, "Approve with changes").click();
    await dialog(page).getByRole("button", { name: "Approve with changes" }).click();
    await page.getByText("Approved with changes by you").waitFor();
    const outcome = await outcomeOf(made.id);
    assert.deepEqual([outcome?.edited, outcome?.kwargs], [true, '{"amount":50,"to":"Bo"}']);
  });

  it("fills in a form made from a nested schema, and says where it does not fit", async () => {
    const schema = {
      type: "object",
      required: ["address", "gift", "count", "speed", "contact"],
      properties: {
        gift: { type: "boolean", title: "Is it a gift?" },
        count: { type: "integer", minimum: 1, maximum: 9, title: "How many" },
        weight: { type: "number", title: "Weight in kg" },
        speed: { enum: ["slow", "fast", 7], title: "Speed" },
        address: { $ref: "#/$defs/address" },
        notes: { type: "array", title: "Notes", items: { type: "string", maxLength: 40 } },
        contact: { anyOf: [{ type: "string", maxLength: 20 }, { type: "null" }], title: "Contact" },
        extra: { title: "Extra" },
      },
      $defs: {
        address: {
          type: "object",
          title: "Address",
          required: ["street", "zip"],
          properties: {
            street: { type: "string", maxLength: 80, title: "Street" },
            zip: { type: "string", pattern: "^[0-9]{5}$", title: "Postcode" },
          },
        },
      },
    };
    const made = await ask({ title: "Where does it go?", digest: null, form: { kind: "value", schema } });
    await using visitor = await ana.visit(browser, { screen: "phone", ask: made });
    const { page } = visitor;
    await button(page, "Send").tap();
    await page.getByText("Fill this in.").first().waitFor();
    await page.getByRole("group", { name: "Is it a gift?" }).getByText("Yes").tap();
    await page.getByLabel("How many").fill("12");
    await page.getByLabel("Weight in kg").fill("2,5");
    await page.getByRole("group", { name: "Speed" }).getByText("7", { exact: true }).tap();
    await page.getByLabel("Street").fill("Am Hang 3");
    await page.getByLabel("Postcode").fill("1234");
    await button(page, "Add to Notes").tap();
    await page.getByLabel("Notes 1", { exact: true }).fill("Ring twice");
    await page.getByLabel("Extra").fill('{"a": [1]}');
    await button(page, "Send").tap();
    await page.getByText("At most 9.").waitFor();
    await page.getByLabel("How many").fill("3");
    await button(page, "Send").tap();
    await page.getByText("The answer does not fit").waitFor();
    assert.equal(await page.getByLabel("Postcode").getAttribute("aria-invalid"), "true");
    await page.getByLabel("Postcode").fill("12345");
    await page.reload();
    assert.equal(await page.getByLabel("Street").inputValue(), "Am Hang 3", "the draft is kept");
    await button(page, "Send").tap();
    await page.getByText("Answered by you").waitFor();
    assert.deepEqual(JSON.parse((await outcomeOf(made.id))?.value ?? ""), {
      gift: true,
      count: 3,
      weight: 2.5,
      speed: 7,
      notes: ["Ring twice"],
      contact: null,
      extra: { a: [1] },
      address: { street: "Am Hang 3", zip: "12345" },
    });
  });

  it("answers with a choice, with words, or in JSON where somebody prefers it", async () => {
    const options = [
      { name: "a", title: "Anchor", interactive: false },
      { name: "b", title: "Beacon", promptFill: "Beacon, because ", interactive: true },
    ];
    const name = await ask({ title: "Which name?", digest: null, form: { kind: "reply", options } });
    const size = { type: "object", properties: { n: { type: "integer" } } };
    const value = await ask({ title: "Which size?", digest: null, form: { kind: "value", schema: size } });
    await using visitor = await ana.visit(browser, { screen: "desk", ask: name });
    const { page } = visitor;
    const box = page.getByRole("textbox");
    await pressUntil(page, "2", async () => (await box.inputValue()) === "Beacon, because ");
    await box.fill("Beacon, because of the light");
    await box.press("Enter");
    await page.getByText("Answered by you").waitFor();
    const outcome = await outcomeOf(name.id);
    assert.deepEqual([outcome?.option, outcome?.text], ["b", "Beacon, because of the light"]);

    await page.goto(`/inbox/${value.id}`);
    await button(page, "Write JSON instead").click();
    await page.getByRole("textbox").fill('{"n": 42}');
    await button(page, "Send").click();
    await page.getByText("Answered by you").waitFor();
    assert.equal((await outcomeOf(value.id))?.value, '{"n":42}');
  });

  it("shows what a second person decided meanwhile, and keeps the words begun", async () => {
    const made = await ask(callOf("restart", { host: "db1" }));
    const question = await ask({ title: "Shall we wait?", digest: null, form: { kind: "reply", options: [] } });
    await using visitor = await ana.visit(browser, { screen: "phone", ask: made });
    const { page } = visitor;
    await button(page, "Reject").tap();
    await dialog(page).getByLabel("Reason").fill("Not on a Friday");
    await page.keyboard.press("Escape");
    await answerAsBo(made.id, { kind: "approve", digest: made.digest ?? "" });
    await page.getByText("Approved by Bo Lind").waitFor();
    await page.getByText("Not on a Friday").waitFor();
    assert.equal(await button(page, "Reject").count(), 0);

    // Also where no word of it has arrived before the press.
    await page.goto(`/inbox/${question.id}`);
    await page.route("**/people/me/events", (route) => route.abort());
    await page.reload();
    await page.getByLabel("Your answer").fill("No, go on");
    await answerAsBo(question.id, { kind: "reply", text: "Yes, wait" });
    await button(page, "Send").tap();
    await page.getByText("Answered by Bo Lind").waitFor();
    await page.getByText("Yes, wait").waitFor();
    await page.getByText("No, go on").waitFor();
  });

  it("sends nothing without a connection, says so, and keeps the words", async () => {
    const made = await ask(callOf("deploy", { version: "1.2" }));
    await using visitor = await ana.visit(browser, { screen: "phone", ask: made });
    const { page } = visitor;
    await readyForOffline(page);
    await button(page, "Approve").waitFor();
    await visitor.context.setOffline(true);
    await button(page, "Approve").tap();
    await dialog(page).getByLabel("Comment").fill("Good luck");
    await dialog(page).getByRole("button", { name: "Approve" }).tap();
    await page.getByText("nothing was decided").waitFor();
    assert.equal(await outcomeOf(made.id), null);
    await visitor.context.setOffline(false);
    await button(page, "Approve").tap();
    assert.equal(await dialog(page).getByLabel("Comment").inputValue(), "Good luck");
    await dialog(page).getByRole("button", { name: "Approve" }).tap();
    await endOn(page, "Approved by you").waitFor();
    assert.equal((await outcomeOf(made.id))?.comment, "Good luck");
  });

  it("goes by keyboard alone: j, k, a and r with one more question, Enter, and a list of the keys", async () => {
    const cleo = await nameSomebody(world, "Cleo Weiss");
    const audience = toPerson(cleo.id);
    const first = await ask({ ...callOf("first_call", { n: 1 }), audience, timeoutSeconds: 600 });
    const second = await ask({ ...callOf("second_call", { n: 2 }), audience, timeoutSeconds: 1200 });
    const third = await ask({ ...callOf("third_call", { n: 3 }), audience, timeoutSeconds: 1800 });
    await using visitor = await cleo.visit(browser, { screen: "desk" });
    const { page } = visitor;
    const heading = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
    await heading("First call");
    await page.keyboard.press("j");
    await heading("Second call");
    await page.keyboard.press("k");
    await heading("First call");

    await pressKey(page, "a");
    await dialog(page).getByRole("heading", { name: "Approve first_call?" }).waitFor();
    const closed = await page.evaluateHandle(() => {
      const left = new Promise<number>((resolve) =>
        addEventListener("close", ({ target }) => resolve((target as Element).childElementCount), { capture: true }),
      );
      return { left };
    });
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "hidden" });
    assert.equal(
      await closed.evaluate(({ left }) => left),
      0,
      "a closed dialog holds no field that would take the next key",
    );
    assert.equal(await outcomeOf(first.id), null);
    await pressKey(page, "a");
    await canDecide(page);
    await page.keyboard.press("Enter");
    await heading("Second call");
    await page.getByRole("link", { name: "Approved by you: First call, n 1" }).waitFor();
    await pressKey(page, "r");
    await dialog(page).getByRole("heading", { name: "Reject second_call?" }).waitFor();
    await canDecide(page);
    await page.keyboard.press("Enter");
    await heading("Third call");
    await page.getByRole("link", { name: "Rejected by you: Second call, n 2" }).waitFor();
    await page.keyboard.press("?");
    await dialog(page).getByText("Approve, after one more question").waitFor();
    await page.keyboard.press("Escape");
    const decided = await Promise.all([first, second, third].map(async ({ id }) => (await outcomeOf(id))?.approved));
    assert.deepEqual(decided, [true, false, undefined]);
  });

  it("shows what comes in without being asked, what is over, and only what is wanted", async () => {
    const dora = await nameSomebody(world, "Dora Falk");
    const audience = toPerson(dora.id);
    await using visitor = await dora.visit(browser, { screen: "phone" });
    const { page } = visitor;
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    const made = await ask({ ...callOf("new_call", {}), audience });
    await row(page, "New call").waitFor();
    await page.getByText("Something new came in.").waitFor();
    await ask({ audience, title: "A question?", digest: null, form: { kind: "reply", options: [] } });
    await button(page, "1 new").tap();
    await row(page, "A question?").waitFor();
    await page.getByLabel("Show").selectOption("kind:reply");
    await row(page, "New call").waitFor({ state: "hidden" });
    await page.getByLabel("Show").selectOption("");

    const responder = await responderOf(world.server.ctx.db, dora.id, "slack");
    await decideRequest(world.server.ctx, { requestId: made.id, responder, decision: { kind: "reject" } });
    await row(page, "New call").waitFor({ state: "hidden" });
    await page.getByLabel("Done").check();
    await row(page, "New call").getByText("Rejected by Dora Falk").waitFor();
  });

  it("asks of several to agree, and says who has", async () => {
    const made = await ask({
      ...callOf("mount", { disk: 1 }),
      audience: { kind: "all", of: [ana, bo].map(({ id }) => toPerson(id)) },
    });
    await using visitor = await ana.visit(browser, { screen: "desk", ask: made });
    const { page } = visitor;
    await page.getByText("All 2 must approve; one rejection rejects.").waitFor();
    await pressKey(page, "a");
    await dialog(page).getByLabel("Or type mount").fill("mount");
    await canDecide(page);
    await page.keyboard.press("Enter");
    await page.getByText("You have approved. Others must agree too.").waitFor();
    await answerAsBo(made.id, { kind: "approve", digest: made.digest ?? "" });
    await page.getByText("Approved by Bo Lind").waitFor();
  });

  it("shows whatever an agent writes as words", async () => {
    const nasty = `<img src=x onerror="document.title='owned'">`;
    const made = await ask({ ...callOf("look", { [nasty]: nasty }), words: nasty });
    await using visitor = await ana.visit(browser, { screen: "phone", ask: made });
    await visitor.page.locator("blockquote").getByText(nasty).waitFor();
    assert.equal(await visitor.page.locator("main img").count(), 0);
    await visitor.page.goto("/inbox/ask_nothing");
    await visitor.page.getByRole("heading", { name: "There is nothing here for you" }).waitFor();
  });
});
