import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page, Request } from "playwright-core";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { MINUTE } from "../support/contract.ts";
import type { World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { callOf, nameSomebody, openInboxWorld, type Named } from "./inbox-world.ts";
import type { Visitor } from "./visitor.ts";

const PRESSES = Number(process.env["RHYTHM_PRESSES"] ?? 200);
const WIDTHS = [320, 360, 390, 412, 430];
const SHOWN_MS = 500;
/** A hand is sometimes faster than half a second, and sometimes slower. */
const LONGEST_PAUSE_MS = 1200;

/** Numbers from 0 to below `most`, the same in each run (Park and Miller's generator). */
function diceOf(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
}

/** Now and then a card is passed over, or one that was passed over is looked at again. */
const movesAt = (n: number, dice: (most: number) => number): string[] =>
  n % 6 === 5 ? ["Escape", dice(5) === 0 ? "k" : "j"] : [];

/** A decision as the page sent it, and for how long its card had been on screen. */
interface Sent {
  id: string;
  body: Record<string, unknown>;
  shownMs: number;
}

/** From now on no time passes for the page but what a test lets pass; notes since when each card is there. */
async function watch(visitor: Visitor): Promise<{ sent: Sent[]; page: Page }> {
  const { page } = visitor;
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + MINUTE);
  await page.evaluate(() => {
    const seen = { path: "", at: 0 };
    const look = (): void => {
      const path = document.querySelector("article h1") ? location.pathname : "";
      if (path !== seen.path) Object.assign(seen, { path, at: performance.now() });
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
    look();
    const send = window.fetch;
    window.fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      if (/\/decisions?$/.test(String(input))) headers.set("x-shown-ms", String(performance.now() - seen.at));
      return send(input, { ...init, headers });
    };
  });
  const sent: Sent[] = [];
  page.on("request", (request: Request) => {
    const [, one, several] = /\/people\/me\/(?:asks\/([^/]+)\/decision|(decisions))$/.exec(request.url()) ?? [];
    if (one === undefined && several === undefined) return;
    const body = JSON.parse(request.postData() ?? "{}") as Sent["body"] & { calls?: { id: string }[] };
    const shownMs = Number(request.headers()["x-shown-ms"]);
    for (const id of body.calls?.map((call) => call.id) ?? [one ?? ""]) sent.push({ id, body, shownMs });
  });
  return { sent, page };
}

describe("a hand that decides in a rhythm", () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    world = await openInboxWorld();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  /**
   * Asks somebody new about calls of each risk, some of them alike, questions with and without options, and forms; returns
   * the grave ones.
   */
  const askAll = async (name: string, count: number): Promise<{ somebody: Named; grave: Set<string> }> => {
    const somebody = await nameSomebody(world, name);
    const audience = toPerson(somebody.id);
    const grave = new Set<string>();
    for (let n = 0; n < count; n += 1) {
      const kinds = [
        () => callOf("mount_disk", { disk: n }),
        () => callOf("list_disks", { rack: n }),
        () => callOf("wipe_disk", { disk: n }),
        () => callOf("rename_disk", { disk: n }),
        () => ({ title: `Why ${n}?`, digest: null, form: { kind: "reply" as const, options: [] } }),
        () => callOf("label_disk", { disk: n }),
      ];
      const kind = n % kinds.length;
      const asker = n % 12 < 6 ? "agent:ops" : `agent:ops-${n}`;
      const made = await askPeople(world.server.ctx, { ...kinds[kind]?.(), asker, audience, timeoutSeconds: 600 + n });
      if (kind === 2) grave.add(made.id);
    }
    return { somebody, grave };
  };
  const assertDeliberate = (sent: readonly Sent[], grave: ReadonlySet<string>): void => {
    for (const { id, body, shownMs } of sent) {
      assert.ok(shownMs >= SHOWN_MS, `${id} was on screen for ${shownMs} ms`);
      assert.ok(!grave.has(id), "a grave call was approved without being held");
      assert.deepEqual([body["approved"], body["comment"], body["text"]], [true, undefined, undefined]);
    }
    assert.ok(sent.length > 0, "nothing was decided at all");
  };

  it(`sends no text and decides nothing unseen by ${PRESSES} times a and Enter, at any speed`, async () => {
    const { somebody, grave } = await askAll("Ida Holm", 36);
    await using visitor = await somebody.visit(browser, { screen: "desk" });
    await visitor.page.getByRole("heading", { level: 1, name: "3 calls of mount_disk" }).waitFor();
    const { sent, page } = await watch(visitor);
    const dice = diceOf(7);
    for (let n = 0; n < PRESSES; n += 1) {
      for (const key of ["a", "Enter", ...movesAt(n, dice)]) {
        await page.clock.fastForward(dice(LONGEST_PAUSE_MS));
        await page.keyboard.press(key);
      }
    }
    assertDeliberate(sent, grave);
    assert.equal(
      await page
        .getByRole("textbox", { name: "Your answer" })
        .inputValue()
        .catch(() => ""),
      "",
    );
  });

  for (const width of WIDTHS) {
    it(`sends no text and decides nothing unseen by a thumb that taps in one place, ${width} wide`, async () => {
      const { somebody, grave } = await askAll(`Ida ${width}`, 18);
      await using visitor = await somebody.visit(browser, { screen: "phone" });
      await visitor.page.setViewportSize({ width, height: 780 });
      await visitor.page.locator("[data-row]").first().tap();
      const approve = visitor.page.getByRole("main").getByRole("button", { name: /^Approve( \d+)?$/ });
      const { x, y, width: w, height: h } = (await approve.boundingBox()) ?? assert.fail();
      const { sent, page } = await watch(visitor);
      const dice = diceOf(width);
      for (let n = 0; n < PRESSES / WIDTHS.length; n += 1) {
        await page.clock.fastForward(dice(LONGEST_PAUSE_MS));
        await page.touchscreen.tap(x + w / 2, y + h / 2);
        for (const key of movesAt(n, dice)) await page.keyboard.press(key);
      }
      assertDeliberate(sent, grave);
    });
  }

  it("takes 24 taps of a thumb in one place for twelve approvals", async () => {
    const somebody = await nameSomebody(world, "Ole Winter");
    const made = [];
    for (let n = 0; n < 12; n += 1) {
      const call = callOf(n % 2 === 0 ? "mount_disk" : "list_disks", { disk: n });
      made.push(
        await askPeople(world.server.ctx, {
          ...call,
          asker: `agent:ops-${n}`,
          audience: toPerson(somebody.id),
          timeoutSeconds: 600 + n,
        }),
      );
    }
    await using visitor = await somebody.visit(browser, { screen: "phone" });
    const { page } = visitor;
    await page.locator("[data-row]").first().tap();
    const approve = page.getByRole("main").getByRole("button", { name: "Approve", exact: true });
    const box = (await approve.boundingBox()) ?? assert.fail();
    const tap = () => page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
    const decides = page.locator("dialog button[type=submit][aria-disabled=false]");
    for (const { title } of made) {
      await page.getByRole("heading", { level: 1, name: title.replace("_", " ") }).waitFor();
      await tap();
      await decides.waitFor();
      await tap();
      await page.getByRole("dialog").waitFor({ state: "hidden" });
    }
    await page.getByText("Approved by you", { exact: true }).waitFor();
    for (const { id } of made) assert.equal((await readRequest(world.server.ctx, id)).outcome?.approved, true);
  });
});
