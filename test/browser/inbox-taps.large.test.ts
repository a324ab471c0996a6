import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, sharedInbox } from "./inbox-world.ts";
import { pressKey } from "./visitor.ts";

const SIZES = [320, 344, 360, 375, 390, 412, 430].map((width, i) => ({ width, height: [568, 667, 844][i % 3] ?? 844 }));
/** The time between two quick taps of a thumb. */
const BETWEEN_TAPS_MS = 90;

const rejectOptions = [{ name: "dear", title: "Too expensive", promptFill: "Find a cheaper one.", interactive: false }];

describe("deciding a call in the inbox", () => {
  const scene = sharedInbox();
  const ask = (more: Parameters<typeof callOf>[2] = {}, fn = "mount_disk") =>
    askPeople(scene().world.server.ctx, { audience: toPerson(scene().ana.id), ...callOf(fn, { disk: 1 }, more) });
  const stateOf = async (id: string) => (await readRequest(scene().world.server.ctx, id)).state;
  const sheet = (page: Page) => page.getByRole("dialog");
  /** Returns a button of the sheet, once it is enabled. */
  const side = (page: Page, name: string) =>
    sheet(page).getByRole("button", { name, exact: true }).and(page.locator("[aria-disabled=false]"));

  for (const [name, fn, decides, there] of [
    ["Approve", "mount_disk", "Approve", "Approve"],
    ["Approve", "wipe_disk", "Hold: Approve", "Cancel"],
    ["Reject", "mount_disk", "Reject", "Reject"],
  ] as const) {
    it(`takes two taps on ${name} of ${fn} for one, and has ${there} under the thumb then, on every phone`, async () => {
      const made = await ask({}, fn);
      await using visitor = await scene().visit({ screen: "phone", ask: made });
      const { page } = visitor;
      for (const size of SIZES) {
        await page.setViewportSize(size);
        const button = page.getByRole("main").getByRole("button", { name, exact: true });
        await button.scrollIntoViewIfNeeded();
        const box = (await button.boundingBox()) ?? assert.fail("no button");
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        await page.touchscreen.tap(x, y);
        await page.waitForTimeout(BETWEEN_TAPS_MS);
        await page.touchscreen.tap(x, y);
        // Where the sheet leaves the place free, the second tap closed it.
        if (await sheet(page).isVisible()) {
          await side(page, decides).waitFor();
          const under = await page.evaluate(
            ([left = 0, top = 0]) => document.elementFromPoint(left, top)?.closest("button")?.textContent,
            [x, y],
          );
          assert.ok(under === there || under === undefined, `${size.width}×${size.height}: ${under}`);
          await page.keyboard.press("Escape");
          await sheet(page).waitFor({ state: "hidden" });
        }
        assert.equal(await stateOf(made.id), "open", `${size.width}×${size.height}`);
      }
    });
  }

  it("takes no press that began before its sheet had been there for half a second, however late it ends", async () => {
    const made = await ask();
    await using visitor = await scene().visit({ screen: "desk", ask: made });
    const { page } = visitor;
    const isEarly = (): Promise<boolean> =>
      page.evaluate(() => {
        const button = document.querySelector("dialog button[type=submit]");
        button?.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
        return button?.ariaDisabled === "true";
      });
    for (let early = false; !early;) {
      await pressKey(page, "a");
      await sheet(page).waitFor();
      early = await isEarly();
      if (!early) await page.keyboard.press("Escape");
    }
    await side(page, "Approve").waitFor();
    await page.evaluate(() => document.querySelector<HTMLElement>("dialog button[type=submit]")?.click());
    assert.equal(await sheet(page).isVisible(), true, "the press ends, and the sheet is still there");
    assert.equal(await stateOf(made.id), "open");
    await side(page, "Approve").click();
    await page.getByRole("status").getByText("Approved by you").waitFor();
  });

  it("puts a reason that is typed after the key r into its box, and decides with Enter alone", async () => {
    const made = await ask();
    await using visitor = await scene().visit({ screen: "desk", ask: made });
    const { page } = visitor;
    await pressKey(page, "r");
    await sheet(page).waitFor();
    await page.keyboard.type("not on a Friday, and a b r");
    assert.equal(await sheet(page).getByLabel("Reason").inputValue(), "not on a Friday, and a b r");
    assert.equal(await stateOf(made.id), "open");
    await side(page, "Reject").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Rejected by you").waitFor();
    const { outcome } = await readRequest(scene().world.server.ctx, made.id);
    assert.equal(outcome?.comment, "not on a Friday, and a b r");
  });

  it("takes no held key for a decision", async () => {
    const made = await ask();
    await using visitor = await scene().visit({ screen: "desk", ask: made });
    const { page } = visitor;
    const approve = page.getByRole("main").getByRole("button", { name: "Approve", exact: true });
    await approve.focus();
    await page.keyboard.down("Enter");
    await side(page, "Approve").waitFor();
    for (let i = 0; i < 5; i += 1) await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    assert.equal(await sheet(page).isVisible(), true);
    assert.equal(await stateOf(made.id), "open");
  });

  it("sends no words from a sheet that was closed again, unless they are seen", async () => {
    const made = await ask({
      rejectOptions: [
        ...rejectOptions,
        { name: "else", title: "Try another", promptFill: "Use disk 2.", interactive: true },
      ],
    });
    await using visitor = await scene().visit({ screen: "desk", ask: made });
    const { page } = visitor;
    const way = (name: string) => sheet(page).getByText(name);
    const close = async (): Promise<void> => {
      await page.keyboard.press("Escape");
      await sheet(page).waitFor({ state: "hidden" });
    };
    await pressKey(page, "r");
    await way("Try another").click();
    assert.equal(await sheet(page).getByLabel("Reason").inputValue(), "Use disk 2.");
    await close();
    await pressKey(page, "a");
    assert.equal(await sheet(page).getByLabel("Comment").inputValue(), "");
    await sheet(page).getByLabel("Comment").fill("Only this once");
    await close();
    await pressKey(page, "r");
    await way("Too expensive").click();
    assert.equal(await sheet(page).getByLabel("Reason").inputValue(), "Only this once");
    await sheet(page).getByLabel("Reason").fill("");
    await side(page, "Reject").click();
    await page.getByRole("status").getByText("Rejected by you").waitFor();
    const { outcome } = await readRequest(scene().world.server.ctx, made.id);
    assert.doesNotMatch(outcome?.comment ?? "", /Only|disk 2/);
  });
});
