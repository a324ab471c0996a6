import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { Request } from "../../src/requests/model/request.ts";
import { snoozeRequest } from "../../src/requests/inbox/snooze.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { openTalking, type Talking } from "../support/conversations.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, nameSomebody, type Named } from "./inbox-world.ts";
import { pressKey, pressUntil } from "./visitor.ts";
import { assertAccessible } from "./wcag.ts";

const SETTINGS = "a2h: { entry_points: { support: { agent: support, inbox: true } } }";
const MINUTE_MS = 60_000;

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });
const palette = (page: Page) => page.getByRole("dialog", { name: "Find an action" });
const field = (page: Page) => page.getByRole("combobox", { name: "An action, a request or a place" });
/** The line that `Enter` would run, as a screen reader has it from the field. */
const chosen = (page: Page): Promise<string | undefined> =>
  field(page).evaluate((one) => {
    const id = one.getAttribute("aria-activedescendant") ?? "";
    return document.getElementById(id)?.firstElementChild?.textContent ?? undefined;
  });
const openPalette = async (page: Page): Promise<void> => {
  await page.keyboard.press("Control+k");
  await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "combobox");
};
const hasFocus = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate((one) => document.activeElement?.matches(one) ?? false, selector);
const leaveField = (page: Page): Promise<void> =>
  page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());

describe("the inbox by keyboard", () => {
  let scene: Talking;
  let browser: Browser;
  before(async () => {
    scene = await openTalking("sqlite", SETTINGS, { PARLEY_ASK_A_HUMAN_LIMITS_HUMAN_READS_PER_HOUR: "100000" });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await scene?.[Symbol.asyncDispose]();
  });

  /** Somebody whose inbox has a call that may be edited, a question, and three alike calls, in this order. */
  const somebody = async (name: string): Promise<{ person: Named; refund: Request }> => {
    const person = await nameSomebody(scene.world, name);
    const { ctx } = scene.world.server;
    const audience = toPerson(person.id);
    const refund = await askPeople(ctx, {
      ...callOf("refund", { order: "A-1007" }, { editable: true }),
      audience,
      timeoutSeconds: 1200,
    });
    const form = { kind: "reply" as const, options: [{ name: "yes", title: "Yes", interactive: false }] };
    await askPeople(ctx, { audience, title: "Which colour?", form, digest: null, timeoutSeconds: 2400 });
    for (const [at, version] of ["1.7", "1.8", "1.9"].entries()) {
      await askPeople(ctx, {
        audience,
        asker: "agent:ops",
        ...callOf("deploy", { version }),
        timeoutSeconds: 7200 + at,
      });
    }
    return { person, refund };
  };

  it("has a key for everything on a card, in the list and among alike calls", async () => {
    const { person, refund } = await somebody("Ana Ruiz");
    await using visitor = await person.visit(browser, { screen: "desk" });
    const { page } = visitor;
    const { keyboard } = page;
    const sheet = (name: string) => page.getByRole("dialog", { name });
    await heading(page, "Refund").waitFor();
    for (const [key, title] of [
      ["a", "Approve refund?"],
      ["r", "Reject refund?"],
    ] as const) {
      await pressKey(page, key);
      await sheet(title).waitFor();
      await keyboard.press("Escape");
      await sheet(title).waitFor({ state: "hidden" });
    }
    await keyboard.press("e");
    await page.waitForFunction(() => document.activeElement?.matches("details input, details textarea"));
    await leaveField(page);

    await keyboard.press("w");
    await heading(page, "New conversation").waitFor();
    await keyboard.press("j");
    await heading(page, "Refund").waitFor();
    await keyboard.press("j");
    await heading(page, "Which colour?").waitFor();
    await pressUntil(page, "w", () => hasFocus(page, "textarea"));
    await keyboard.type("j a ?");
    assert.equal(await page.getByLabel("Or write your own").inputValue(), "j a ?", "nothing acts while one types");
    await keyboard.press("Escape");

    await keyboard.press("j");
    await heading(page, "3 calls of deploy").waitFor();
    const focused = () => page.locator("[data-call]:focus-within").textContent();
    await keyboard.press("j");
    assert.match((await focused()) ?? "", /1\.7/);
    await keyboard.press("x");
    await page.getByText("2 of 3 ticked").waitFor();
    await keyboard.press("j");
    assert.match((await focused()) ?? "", /1\.8/);
    await pressKey(page, "a");
    await sheet("Approve 2 calls of deploy?").waitFor();
    await keyboard.press("Escape");
    await pressKey(page, "r");
    await sheet("Reject 2 calls of deploy?").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("Enter");
    await heading(page, "Deploy 1.8").waitFor();

    await keyboard.press("k");
    await heading(page, "Which colour?").waitFor();
    await pressUntil(page, "/", () => hasFocus(page, "input[type=search]"));
    assert.equal((await readRequest(scene.world.server.ctx, refund.id)).outcome, null);

    await leaveField(page);
    await keyboard.press("j");
    await heading(page, "3 calls of deploy").waitFor();
    for (const key of ["j", "k"]) await keyboard.press(key);
    await heading(page, "Which colour?").waitFor();
  });

  it("walks through the rows where the list stands alone, and opens the one that has the focus", async () => {
    const { person } = await somebody("Bo Lind");
    await using visitor = await person.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await page.setViewportSize({ width: 800, height: 800 });
    await page.goto("/inbox");
    await page.locator("[data-row]").nth(2).waitFor();
    for (const key of ["j", "j", "j", "k"]) await page.keyboard.press(key);
    assert.match((await page.locator("[data-row]:focus").textContent()) ?? "", /^Which colour/);
    await page.keyboard.press("Enter");
    await heading(page, "Which colour?").waitFor();
  });

  it("lists the keys of this screen first, then the rest of the room", async () => {
    const { person } = await somebody("Cy Weiss");
    await using visitor = await person.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await page.locator("[aria-keyshortcuts=e]").waitFor();
    await page.keyboard.press("?");
    const lists = page.getByRole("dialog", { name: "Keys" }).locator("section");
    await lists.nth(1).waitFor();
    const namesIn = (at: number) => lists.nth(at).locator("dd").allInnerTexts();
    assert.deepEqual(await namesIn(0), [
      "Next",
      "Previous",
      "Approve, after one more question",
      "Reject, after one more question",
      "Snooze, until a time of your choice",
      "Ask the agent back",
      "Edit the arguments",
      "New conversation",
      "Search",
      "Find an action",
      "List the keys",
    ]);
    assert.deepEqual(await namesIn(1), [
      "Choose an answer",
      "Tick",
      "Take out from here",
      "Open",
      "Send, or go on",
      "Undo what you just decided",
      "Hand on to somebody else",
      "Freeze this agent, after one more question",
      "Write an answer",
    ]);
    await assertAccessible(page, "list of keys");
  });

  it("has a palette of all that can be done, which runs by keys alone and decides nothing", async () => {
    const { person, refund } = await somebody("Di Holm");
    await using visitor = await person.visit(browser, { screen: "desk" });
    const { page } = visitor;
    const { keyboard } = page;
    await page.locator("[aria-keyshortcuts=e]").waitFor();
    await keyboard.press("/");
    await openPalette(page);
    await assertAccessible(page, "palette");
    await keyboard.press("Escape");
    await palette(page).waitFor({ state: "hidden" });
    assert.ok(await hasFocus(page, "input[type=search]"), "it opens while one types, and gives the focus back");

    await openPalette(page);
    await keyboard.type("approv");
    assert.equal(await chosen(page), "Approve, after one more question");
    await keyboard.press("ArrowDown");
    assert.equal(await chosen(page), "Show: Approvals");
    await keyboard.press("ArrowUp");
    await keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Approve refund?" }).waitFor();
    await keyboard.press("Control+k");
    assert.equal(await palette(page).count(), 0, "a question is answered first");
    await keyboard.press("Escape");
    assert.equal((await readRequest(scene.world.server.ctx, refund.id)).outcome, null);

    await openPalette(page);
    await keyboard.type("colour");
    assert.equal(await chosen(page), "Open: Which colour?");
    await keyboard.press("Enter");
    await heading(page, "Which colour?").waitFor();
    await openPalette(page);
    await keyboard.type("show question");
    await keyboard.press("Enter");
    await page.waitForURL(/show=kind%3Areply/);
    await openPalette(page);
    await keyboard.type("nothing like this");
    await palette(page).getByRole("status").getByText("Nothing found").waitFor();
    await keyboard.press("Enter");
    await keyboard.press("Control+a");
    await keyboard.type("go you");
    await keyboard.press("Enter");
    await heading(page, "You").waitFor();
  });

  it("offers no decision about a card in the half second after it appeared", async () => {
    const { person } = await somebody("Eva Stern");
    await using visitor = await person.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await page.locator("[aria-keyshortcuts=e]").waitFor();
    await openPalette(page);
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await heading(page, "Which colour?").waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + MINUTE_MS);
    await page.keyboard.press("k");
    for (let ms = 0; ms < 400 && !(await heading(page, "Refund").isVisible()); ms += 10) await page.clock.runFor(10);
    await page.keyboard.press("Control+k");
    const approve = palette(page).getByRole("option", { name: "Approve, after" });
    await palette(page).getByRole("option", { name: "Next" }).waitFor();
    assert.equal(await approve.count(), 0);
    await page.clock.runFor(600);
    await approve.waitFor();
  });

  it("keeps its palette where single keys are off, and takes keyboards of other letters", async () => {
    const { person } = await somebody("Finn Berg");
    await using visitor = await person.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await heading(page, "Refund").waitFor();
    await page.evaluate(() => dispatchEvent(new KeyboardEvent("keydown", { key: "ت", code: "KeyJ" })));
    await heading(page, "Which colour?").waitFor();
    const first = page.getByRole("radio", { name: "Yes" });
    await pressUntil(page, "1", () => first.isChecked());
    await page.evaluate(() => dispatchEvent(new KeyboardEvent("keydown", { key: "١", code: "Digit1" })));
    await page.waitForFunction(() => !document.querySelector("article input[type=radio]:checked"));
    await page.evaluate(() => dispatchEvent(new KeyboardEvent("keydown", { key: "،", code: "Comma" })));
    await page.evaluate(() => dispatchEvent(new KeyboardEvent("keydown", { key: "ظ", code: "Slash" })));
    assert.ok(await hasFocus(page, "input[type=search]"));
    await leaveField(page);
    await page.evaluate(() => dispatchEvent(new KeyboardEvent("keydown", { key: "؟", code: "Slash", shiftKey: true })));
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.goto("/me");
    await page.getByLabel("Single-key shortcuts").uncheck();
    await page.goto("/inbox");
    await heading(page, "Refund").waitFor();
    for (const key of ["j", "a", "?"]) await page.keyboard.press(key);
    await openPalette(page);
    assert.equal(await page.getByRole("dialog").count(), 1);
    assert.equal(await page.locator("dialog kbd").count(), 0);
    await page.keyboard.type("next");
    await page.keyboard.press("Enter");
    await heading(page, "Which colour?").waitFor();
  });

  it("leaves Ctrl and K to whoever writes on a Mac, where they cut the rest of the line", async () => {
    const { person } = await somebody("Ida Falk");
    await using visitor = await person.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await page.addInitScript(() => Object.defineProperty(navigator, "platform", { value: "MacIntel" }));
    await page.reload();
    await page.locator("[aria-keyshortcuts=e]").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("Control+k");
    assert.ok(await hasFocus(page, "input[type=search]"));
    assert.equal(await palette(page).count(), 0);
    await page.keyboard.press("Meta+k");
    await field(page).waitFor();
  });

  it("finds in its palette each group of Show, also what is put aside and each agent", async () => {
    const { person, refund } = await somebody("Jo Kern");
    const { ctx } = scene.world.server;
    await snoozeRequest(ctx, { requestId: refund.id, person: person.id }, Date.now() + 5 * MINUTE_MS);
    await using visitor = await person.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await heading(page, "Which colour?").waitFor();
    await openPalette(page);
    await page.keyboard.type("show ops");
    assert.equal(await chosen(page), "Show: ops");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("show snoozed");
    await page.keyboard.press("Enter");
    await page.waitForURL(/show=snoozed/);
    await page.locator("[data-row]").getByText("Snoozed until").waitFor();
  });

  it("goes with Tab through rows, card and bar in the order in which they are seen", async () => {
    const { person } = await somebody("Gil Roth");
    await using visitor = await person.visit(browser, { screen: "desk" });
    const { page } = visitor;
    await page.locator("[aria-keyshortcuts=e]").waitFor();
    await page.locator("[data-row]").first().focus();
    const stops = await page.evaluate(() => document.querySelectorAll("main a, main button, main summary").length);
    const seen: { name: string; part: number; y: number; x: number }[] = [];
    for (let at = 0; at < stops; at += 1) {
      const stop = await page.evaluate(() => {
        const one = document.activeElement;
        const bar = document.querySelector("[aria-keyshortcuts=a]")?.parentElement;
        if (!one?.closest("main")) return null;
        const { x, y } = one.getBoundingClientRect();
        // The bar stays in sight at the end of the screen, over what scrolls under it.
        return {
          name: one.textContent ?? "",
          part: bar?.contains(one) ? 2 : one.closest("article") ? 1 : 0,
          y: y + scrollY,
          x,
        };
      });
      if (stop) seen.push(stop);
      await page.keyboard.press("Tab");
    }
    const sorted = seen.toSorted((a, b) => a.part - b.part || (Math.abs(a.y - b.y) > 8 ? a.y - b.y : a.x - b.x));
    assert.deepEqual(seen, sorted);
    assert.deepEqual([...new Set(seen.map(({ part }) => part))], [0, 1, 2]);
    assert.deepEqual(
      seen.slice(-3).map(({ name }) => name),
      ["Reject", "Edit", "Approve"],
    );
  });

  it("shows no key on a phone", async () => {
    const { person, refund } = await somebody("Hal Lund");
    await using visitor = await person.visit(browser, { screen: "phone", ask: refund });
    assert.equal(await visitor.page.locator("kbd").count(), 0);
    assert.equal(await visitor.page.getByRole("button", { name: "Keys" }).count(), 0);
  });
});
