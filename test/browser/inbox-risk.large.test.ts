import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { MINUTE } from "../support/contract.ts";
import { callOf, sharedInbox } from "./inbox-world.ts";
import { pressKey } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const HINT = "Hold the button for a second and let go, or type the name first.";

describe("a call that looks risky in the inbox", () => {
  const scene = sharedInbox();
  const ask = (fn = "wipe_disk", kwargs: Record<string, unknown> = { disk: 1 }) =>
    askPeople(scene().world.server.ctx, { audience: toPerson(scene().ana.id), ...callOf(fn, kwargs) });
  const outcomeOf = async (id: string) => (await readRequest(scene().world.server.ctx, id)).outcome;
  const sheet = (page: Page) => page.getByRole("dialog");
  /** Returns the button that decides, once it is enabled. */
  const decides = (page: Page, name: string) =>
    sheet(page).getByRole("button", { name, exact: true }).and(page.locator("[aria-disabled=false]"));
  const middleOf = async (page: Page): Promise<[number, number]> => {
    const box = await decides(page, "Hold: Approve").boundingBox();
    return box ? [box.x + box.width / 2, box.y + box.height / 2] : assert.fail("no button");
  };

  /** From now on no time passes for the page but what `runFor` lets pass. */
  const holdClock = async (page: Page): Promise<void> => {
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + MINUTE);
  };
  /** A press goes on for a second, and a little more for the page to notice that it began. */
  const holdASecond = async (page: Page): Promise<void> => {
    await page.clock.runFor(900);
    assert.equal(await decides(page, "Hold: Approve").count(), 1, "less than a second is not enough");
    await page.clock.runFor(200);
    await decides(page, "Now let go").waitFor();
  };

  it("says how risky it looks, in four words, and with a sign where it is not as usual", async () => {
    for (const [fn, says] of [
      ["wipe_disk", /^High risk\s+Lost: Wipe disk$/],
      ["list_disks", /^Low risk: it only reads\.$/],
      ["mount_disk", /^Normal risk$/],
      ["run", /^Not judged\s+Unclear beforehand: fsck7 disk$/],
    ] as const) {
      await using visitor = await scene().visit({
        screen: "phone",
        ask: await ask(fn, fn === "run" ? { command: "fsck7 disk" } : { disk: 1 }),
      });
      const { page } = visitor;
      assert.match(await page.locator("[data-risk]").innerText(), says);
      await assertAccessible(page, fn);
    }
  });

  it("is approved by a press of a second that is let go, and by no tap", async () => {
    const made = await ask();
    await using visitor = await scene().visit({ screen: "desk", ask: made });
    const { page } = visitor;
    await page.getByRole("button", { name: "Approve" }).click();
    await sheet(page).getByText("Wipe disk 1").waitFor();
    await decides(page, "Hold: Approve").waitFor();
    await holdClock(page);
    await decides(page, "Hold: Approve").click();
    await page.getByRole("status").getByText(HINT).waitFor();

    const [x, y] = await middleOf(page);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await holdASecond(page);
    await sheet(page).getByText(HINT).hover();
    await decides(page, "Hold: Approve").waitFor();
    await page.mouse.up();
    assert.equal(await outcomeOf(made.id), null, "who leaves the button has thought better of it");

    await page.mouse.move(x, y);
    await page.mouse.down();
    await holdASecond(page);
    assert.equal(await outcomeOf(made.id), null, "nothing is decided before the press ends");
    await page.mouse.up();
    await page.clock.resume();
    await page.getByRole("status").getByText("Approved by you").waitFor();
    assert.equal((await outcomeOf(made.id))?.digest, made.digest);
  });

  it("is approved by no finger that slides off the button", async () => {
    const made = await ask();
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page, context } = visitor;
    const finger = await context.newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...touchPoints: { x: number; y: number }[]) =>
      finger.send("Input.dispatchTouchEvent", { type, touchPoints });
    await page.getByRole("button", { name: "Approve" }).tap();
    await decides(page, "Hold: Approve").waitFor();
    await holdClock(page);
    const [x, y] = await middleOf(page);
    await touch("touchStart", { x, y });
    await holdASecond(page);
    await touch("touchMove", { x, y: y - 200 });
    await decides(page, "Hold: Approve").waitFor();
    await touch("touchEnd");
    assert.equal(await sheet(page).isVisible(), true);

    await touch("touchStart", { x, y });
    await holdASecond(page);
    assert.equal(await outcomeOf(made.id), null);
    await touch("touchEnd");
    await page.clock.resume();
    await page.getByRole("status").getByText("Approved by you").waitFor();
  });

  it("is approved by a key that is held, and by no key that is pressed", async () => {
    const made = await ask();
    await using visitor = await scene().visit({ screen: "desk", ask: made });
    const { page } = visitor;
    await pressKey(page, "a");
    await decides(page, "Hold: Approve").waitFor();
    await holdClock(page);
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText(HINT).waitFor();
    const button = sheet(page).getByRole("button", { name: "Hold: Approve" });
    assert.equal(await button.evaluate((one) => one === document.activeElement), true, "Enter leads to the button");
    await page.keyboard.press("Enter");
    await page.keyboard.press(" ");
    assert.equal(await sheet(page).isVisible(), true);
    await page.keyboard.down(" ");
    await holdASecond(page);
    assert.equal(await outcomeOf(made.id), null);
    await page.keyboard.up(" ");
    await page.clock.resume();
    await page.getByRole("status").getByText("Approved by you").waitFor();
  });

  it("is approved by a press alone once its name is typed, for whoever cannot hold a button", async () => {
    const made = await ask();
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    await page.getByRole("button", { name: "Approve" }).tap();
    const name = sheet(page).getByLabel("Or type wipe_disk");
    await name.fill("wipe_dis");
    assert.equal(await decides(page, "Approve").count(), 0);
    await assertAccessible(page, "the sheet");
    await name.fill("wipe_disk");
    await decides(page, "Approve").tap();
    await page.getByRole("status").getByText("Approved by you").waitFor();
  });

  it("is rejected as easily as any other", async () => {
    const made = await ask();
    await using visitor = await scene().visit({ screen: "phone", ask: made });
    const { page } = visitor;
    await page.getByRole("button", { name: "Reject" }).tap();
    await assertMadeForThumbsAndLargeText(page);
    await decides(page, "Reject").tap();
    await page.getByRole("status").getByText("Rejected by you").waitFor();
  });
});
