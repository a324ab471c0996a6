import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { Evidence } from "../../src/requests/model/plan.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { approvedCalls } from "../../src/requests/model/plan.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { toPerson } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { endOn, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { askPlan } from "./plan-asks.ts";
import { pressKey, SCREENS, type Screen } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const FOREIGN = "evil.example";
const move = (name: string) => ["move_file", { from: name, to: `archive/${name}` }] as const;
const MOVES = ["a.txt", "b.txt", "c.txt", "d.txt"].map(move);
const WIPE = ["Bash", { command: "rm -rf /srv/data" }] as const;
const HOSTILE: Evidence[] = [
  {
    kind: "markdown",
    title: "Why",
    text: [
      "**Old** files. <script>document.title = 'run'</script>",
      `<img src="https://${FOREIGN}/tag.png" onerror="document.title='run'">`,
      `![pixel](https://${FOREIGN}/pixel.png) [press](javascript:document.title='run')`,
      `<style>@import url(https://${FOREIGN}/x.css)</style> <https://${FOREIGN}/auto>`,
    ].join("\n"),
  },
  { kind: "diff", title: "Change", text: "-<b>old</b>\n+<b>new</b>" },
  { kind: "table", title: "Sizes", columns: ["file", "bytes"], rows: [["<i>a.txt</i>", `https://${FOREIGN}/cell`]] },
  { kind: "link", title: "Build", url: `https://${FOREIGN}/build/412`, digest: `sha256:${"0".repeat(64)}` },
  { kind: "image", title: "Before", media_type: "image/png", data: PNG },
];

const line = (page: Page, place: number) => page.locator(`[data-call="${place}"]`);
const approvedOf = async ({ server: { ctx } }: World, { id }: Request) => approvedCalls(await readRequest(ctx, id));

describe("a plan in the inbox", () => {
  const scene = sharedInbox({ PARLEY_INBOX_UNDO_SECONDS: "0" });
  const opened = async (
    screen: Screen,
    ...[calls, more]: [Parameters<typeof askPlan>[2], Parameters<typeof askPlan>[3]?]
  ) => {
    const { world, browser } = scene();
    const ana = await nameSomebody(world, "Ana Ruiz");
    const ask = await askPlan(world, toPerson(ana.id), calls, { title: "Tidy the folder", ...more });
    const visitor = await ana.visit(browser, { screen, ask });
    await line(visitor.page, 1).waitFor();
    return { world, ask, visitor };
  };

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    const isPhone = screen === "phone";
    const press = (page: Page, name: string, key: "a" | "r") =>
      isPhone ? page.getByRole("button", { name, exact: true }).tap() : pressKey(page, key);
    const confirm = (page: Page, name: string) => {
      const button = page.getByRole("dialog").getByRole("button", { name, exact: true });
      return isPhone ? button.tap() : button.press("Enter");
    };

    it(`is approved as a whole on a ${screen}`, async () => {
      const { world, ask, visitor } = await opened(screen, MOVES);
      await using _ = visitor;
      const { page } = visitor;
      await page.getByRole("heading", { level: 1, name: "Plan of 4 calls: Tidy the folder" }).waitFor();
      await line(page, 2).locator("summary").click();
      await line(page, 2).getByText("archive/b.txt", { exact: true }).waitFor();
      await assertAccessible(page, "a plan");
      await press(page, "Approve 4 calls", "a");
      await page.getByRole("heading", { name: "Approve 4 calls?" }).waitFor();
      await assertAccessible(page, "the sheet of a plan");
      await page.locator('[role="dialog"] [aria-disabled="false"], dialog [aria-disabled="false"]').first().waitFor();
      await confirm(page, "Approve 4 calls");
      await endOn(page, "Approved by you").waitFor();
      await page.getByText("Approved: 4 calls, all of them.").waitFor();
      assert.equal(await approvedOf(world, ask), 4);
    });

    it(`is approved up to the call that was taken out on a ${screen}`, async () => {
      const { world, ask, visitor } = await opened(screen, MOVES);
      await using _ = visitor;
      const { page } = visitor;
      const takeOut = async () => {
        if (isPhone) return line(page, 3).getByRole("button").tap();
        await page.locator('[aria-keyshortcuts="a"]').waitFor();
        const focused = () =>
          page.evaluate(() => document.activeElement?.closest("[data-call]")?.getAttribute("data-call"));
        while ((await focused()) !== "4") await page.keyboard.press("j");
        await page.keyboard.press("k");
        assert.equal(await focused(), "3");
        return page.keyboard.press("x");
      };
      await takeOut();
      assert.deepEqual(await page.locator("del").count(), 2);
      await line(page, 4).getByText("Taken out").waitFor();
      await page.getByText("Taken out: calls 3 to 4.").waitFor({ state: "attached" });
      // The draft outlasts a reload.
      await page.reload();
      await page.getByRole("button", { name: "Approve the first 2 of 4" }).waitFor();
      await (isPhone ? line(page, 3).getByRole("button", { name: "Put back" }).tap() : takeOut());
      await page.getByRole("button", { name: "Approve 4 calls" }).waitFor();
      await takeOut();
      if (isPhone) await assertMadeForThumbsAndLargeText(page);
      await press(page, "Approve the first 2 of 4", "a");
      await page.getByText("Rejected by it: calls 3 to 4.").waitFor();
      await page.locator('dialog [aria-disabled="false"]').first().waitFor();
      await confirm(page, "Approve the first 2 of 4");
      await page.getByText("Approved: the first 2 of 4 calls.").waitFor();
      assert.deepEqual([await approvedOf(world, ask), await page.locator("del").count()], [2, 2]);
    });
  }

  it("without any call left is rejected", async () => {
    const { world, ask, visitor } = await opened("phone", MOVES);
    await using _ = visitor;
    const { page } = visitor;
    await line(page, 1).getByRole("button").tap();
    await page.getByText("Every call is taken out, which rejects the plan.").waitFor();
    assert.equal(await page.getByRole("button", { name: /^Approve/ }).count(), 0);
    await page.getByRole("button", { name: "Reject", exact: true }).tap();
    await page.locator('dialog [aria-disabled="false"]').first().waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Reject", exact: true }).tap();
    await page.getByText("Approved: none of 4 calls.").waitFor();
    assert.equal((await readRequest(world.server.ctx, ask.id)).outcome?.approved, false);
  });

  it("takes the care of its riskiest call, unless that is taken out", async () => {
    const { world, ask, visitor } = await opened("desk", [...MOVES.slice(0, 2), WIPE]);
    await using _ = visitor;
    const { page } = visitor;
    await page.getByText("1 call has a high risk: 3").waitFor();
    await line(page, 3).getByText("High risk").waitFor();
    await line(page, 3).getByText("Lost:").waitFor();
    const sheet = page.getByRole("dialog");
    await page.getByRole("button", { name: "Approve 3 calls" }).click();
    await sheet.getByText("Among them 1 call of high risk:").waitFor();
    await sheet.getByRole("button", { name: "Cancel" }).click();
    await line(page, 3).getByRole("button").click();
    await page.getByRole("button", { name: "Approve the first 2 of 3" }).click();
    await sheet.getByText("Rejected by it: call 3.").waitFor();
    assert.equal(await sheet.getByLabel("Or type Bash").count(), 0);
    await page.keyboard.press("Escape");
    await line(page, 3).getByRole("button").click();
    await page.getByRole("button", { name: "Approve 3 calls" }).click();
    await sheet.getByLabel("Or type Bash").fill("Bash");
    await sheet.getByRole("button", { name: "Approve 3 calls", exact: true }).click();
    await endOn(page, "Approved by you").waitFor();
    assert.equal(await approvedOf(world, ask), 3);
  });

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`shows evidence of each kind, which does nothing, on a ${screen}`, async () => {
      const { visitor } = await opened(screen, MOVES, { evidence: HOSTILE });
      await using _ = visitor;
      const { page, context } = visitor;
      const asked: string[] = [];
      context.on("request", (request) => void asked.push(request.url()));
      await page.reload();
      await page.getByRole("img", { name: "Before" }).waitFor();
      const width = () =>
        page.getByRole("img", { name: "Before" }).evaluate((one) => (one as HTMLImageElement).naturalWidth);
      while ((await width()) === 0) await page.waitForLoadState("networkidle");
      await page.getByText("<script>document.title = 'run'</script>").waitFor();
      await page.getByText(`![pixel](https://${FOREIGN}/pixel.png)`).waitFor();
      await page.locator("strong", { hasText: "Old" }).waitFor();
      await page.locator('[data-sign="+"]', { hasText: "+<b>new</b>" }).waitFor();
      await page.getByRole("cell", { name: "<i>a.txt</i>" }).waitFor();
      await page.getByText(`Opens ${FOREIGN}`).waitFor();
      const figures = page.locator("figure");
      const found = await Promise.all(["script", "style", "img", "a"].map((tag) => figures.locator(tag).count()));
      assert.deepEqual(found, [0, 0, 1, 1], "one image of this server, one typed link");
      assert.notEqual(await page.title(), "run");
      assert.deepEqual(
        asked.filter((url) => new URL(url).hostname === FOREIGN),
        [],
      );
      await assertAccessible(page, "the evidence of a plan");
      if (screen === "phone") await assertMadeForThumbsAndLargeText(page);
    });
  }
});
