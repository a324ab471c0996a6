import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { transact } from "../../src/core/store/transact.ts";
import { INBOX_TOPIC } from "../../src/core/store/wake.ts";
import { answerInquiry, askBack as askBackAs } from "../../src/requests/inbox/inquire.ts";
import { ANSWERS_INQUIRIES } from "../../src/requests/model/inquiry.ts";
import { OWN_TASK } from "../../src/requests/model/task-of-request.ts";
import { lockRequest, updateInquiries, updateRequest } from "../../src/requests/store/requests.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { pressUntil, SCREENS, type Screen } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const dialog = (page: Page) => page.getByRole("dialog");
const askBack = (page: Page) => page.getByRole("button", { name: "Ask back", exact: true });
const thread = (page: Page) => page.getByRole("log", { name: "Questions to the agent" });

describe("a question to the agent of a request in the inbox", () => {
  const scene = sharedInbox();

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`is answered on the open card, which is then decided, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const { ctx } = world.server;
      const ana = await nameSomebody(world, "Ana Ruiz");
      const made = await askPeople(ctx, {
        audience: toPerson(ana.id),
        ...callOf("refund", { order: "B-1" }),
        wire: ANSWERS_INQUIRIES,
      });
      await using visitor = await ana.visit(browser, { screen, ask: made });
      const { page } = visitor;
      await askBack(page).waitFor();
      if (screen === "phone") await askBack(page).tap();
      else await pressUntil(page, "q", () => dialog(page).isVisible());
      const question = dialog(page).getByLabel("Your question");
      await question.waitFor();
      assert.equal(await dialog(page).getByRole("button", { name: "Ask", exact: true }).isDisabled(), true);
      await question.fill("Which customer <b>is</b> this for?\nAnd why?");
      if (screen === "phone") await assertMadeForThumbsAndLargeText(page);
      await assertAccessible(page, "a question to an agent");
      await dialog(page).getByRole("button", { name: "Ask", exact: true }).click();
      await dialog(page).waitFor({ state: "hidden" });
      await thread(page).getByText("Which customer <b>is</b> this for?").waitFor();
      await thread(page).getByText("Not read by the agent yet.").waitFor();

      await answerInquiry(ctx, { asker: made.asker, id: `${made.id}.1` }, "Lind & Sons, who paid twice.");
      await thread(page).getByText("Lind & Sons, who paid twice.").waitFor();
      await assertAccessible(page, "a card with an answered question");
      await page.getByRole("button", { name: "Approve", exact: true }).click();
      await dialog(page).getByRole("button", { name: "Approve", exact: true }).click();
      await page
        .getByText(/Approved by you/)
        .first()
        .waitFor();
      await page.goto(`/inbox/${made.id}`);
      await thread(page).getByText("Lind & Sons, who paid twice.").waitFor();
    });
  }

  it("goes to the coding agent of a task too, and two people may ask at the same moment", async () => {
    const { world, browser } = scene();
    const { ctx } = world.server;
    const [ana, bo] = [await nameSomebody(world, "Ana Ruiz"), await nameSomebody(world, "Bo Lind")];
    const task = { repo: "shop", id: "T-1", attempt: 1, agent: "claude", sandbox: "bubblewrap" };
    const made = await askPeople(ctx, {
      audience: { kind: "any", of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) },
      ...callOf("deploy", { env: "staging" }),
    });
    const wire = { ...made.wire, ...ANSWERS_INQUIRIES, [OWN_TASK]: { ...task, about: "wish" } };
    await transact(ctx, (tx) => updateRequest(tx, { ...made, wire }));
    await using visitor = await ana.visit(browser, { screen: "desk", ask: made });
    const { page } = visitor;
    await askBack(page).click();
    await dialog(page).getByLabel("Your question").fill("Which branch?");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await thread(page).getByText("Which branch?").waitFor();
    await askBackAs(ctx, { requestId: made.id, person: bo.id }, "And who tests it?");
    await thread(page).getByText("And who tests it?").waitFor();
    // Two people may ask within one millisecond.
    await transact(ctx, async (tx) => {
      const locked = await lockRequest(tx, made.id);
      const { inquiries = [] } = locked?.request ?? {};
      if (locked)
        await updateInquiries(
          tx,
          locked.request,
          inquiries.map((one) => ({ ...one, at: locked.now })),
        );
      tx.wake(INBOX_TOPIC);
    });
    await answerInquiry(ctx, { asker: made.asker, id: `${made.id}.2` }, "Nobody yet.");
    await thread(page).getByText("Nobody yet.").waitFor();
    assert.deepEqual(await thread(page).locator("dl > dd:first-of-type").allTextContents(), [
      "Which branch?",
      "And who tests it?",
    ]);
  });

  it("says of an agent that answers none how it can be told something", async () => {
    const { world, browser } = scene();
    const ana = await nameSomebody(world, "Ana Ruiz");
    const made = await askPeople(world.server.ctx, {
      audience: toPerson(ana.id),
      ...callOf("refund", { order: "B-2" }),
    });
    await using visitor = await ana.visit(browser, { screen: "desk", ask: made });
    const { page } = visitor;
    await askBack(page).click();
    await dialog(page).getByText("cannot be asked back").waitFor();
    assert.equal(await dialog(page).getByRole("textbox").count(), 0);
  });
});
