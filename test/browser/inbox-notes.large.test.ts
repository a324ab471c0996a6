import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { AgentNote } from "../../src/requests/model/agent-note.ts";
import { noteGiven, readWaitingNotes } from "../../src/requests/notes/give-notes.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { callOf, nameSomebody, sharedInbox } from "./inbox-world.ts";
import { SCREENS, type Screen, visit } from "./visitor.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

const dialog = (page: Page) => page.getByRole("dialog");
const isWide = () => document.documentElement.scrollWidth > document.documentElement.clientWidth;
const WORDS = `Use the <b>staging</b> bucket.\n${"w".repeat(300)}`;

describe("a note to the agent of a request in the inbox", () => {
  const scene = sharedInbox();
  const run = (name: string): Pick<AgentNote, "agent" | "run"> => ({ agent: "agent:bot", run: name });
  const promptTo = (person: { id: string }, run_id: string) =>
    askPeople(scene().world.server.ctx, {
      audience: toPerson(person.id),
      ...callOf("deploy", { env: run_id }),
      asker: "agent:bot",
      ref: `call:${run_id}`,
      wire: { run_id, agent_prompt: { agent: "codex", reads_notes: true } },
    });

  for (const screen of Object.keys(SCREENS) as Screen[]) {
    it(`is sent from the card, waits there, and is read by its agent, on a ${screen}`, async () => {
      const { world, browser } = scene();
      const { ctx } = world.server;
      const ana = await nameSomebody(world, "Ana Ruiz");
      const made = await promptTo(ana, `session-${screen}`);
      await using visitor = await ana.visit(browser, { screen, ask: made });
      const { page } = visitor;
      const open = page.getByRole("button", { name: "Note", exact: true });
      await open.click();
      const send = dialog(page).getByRole("button", { name: "Send", exact: true });
      await send.waitFor();
      assert.equal(await send.isDisabled(), true);
      await dialog(page).getByLabel("Your note").fill(WORDS);
      if (screen === "phone") await assertMadeForThumbsAndLargeText(page);
      await assertAccessible(page, "a note to an agent");
      await send.click();
      await dialog(page).waitFor({ state: "hidden" });
      const thread = page.getByRole("log", { name: "Notes to the agent" });
      await thread.getByText("Use the <b>staging</b> bucket.").waitFor();
      await thread.getByText("Not read by the agent yet.").waitFor();
      assert.equal(await open.evaluate((button) => button === document.activeElement), true);
      assert.equal(await page.evaluate(isWide), false, "a very long word breaks");

      // Nobody touches the page: what the agent says is enough.
      const waiting = await readWaitingNotes(ctx, run(`session-${screen}`));
      await noteGiven(
        ctx,
        run(`session-${screen}`),
        waiting.map(({ id }) => id),
      );
      await thread.getByText(/^The agent got it:/).waitFor();
      await assertAccessible(page, "a card with a note");
      await page.getByRole("button", { name: "Approve", exact: true }).waitFor();

      await page.getByRole("link", { name: "Everything of this run" }).click();
      const entries = page.locator("[data-entry]");
      await entries.getByText(/^Note to the agent by you: Use the <b>staging<.b> bucket/).waitFor();
      await entries.getByText("bot got the note", { exact: true }).waitFor();
      assert.equal(await page.evaluate(isWide), false, "a very long word breaks in the timeline");
    });
  }

  for (const [locale, note, send] of [
    ["de", "Hinweis", "Senden"],
    ["ar", "ملاحظة", "إرسال"],
  ] as const) {
    it(`has its words in ${locale}, where a phone's screen holds them`, async () => {
      const { world, browser } = scene();
      const ana = await nameSomebody(world, "Ana Ruiz");
      const made = await promptTo(ana, `session-${locale}`);
      await using visitor = await visit(browser, world.url, { screen: "phone", locale, path: await ana.link() });
      const { page } = visitor;
      await page.locator("main h1, main li").first().waitFor();
      await page.goto(`/inbox/${made.id}`);
      await page.getByRole("button", { name: note, exact: true }).click();
      await dialog(page).getByRole("textbox").fill(WORDS);
      await assertMadeForThumbsAndLargeText(page);
      await assertAccessible(page, `a note to an agent in ${locale}`);
      await dialog(page).getByRole("button", { name: send, exact: true }).click();
      await page.getByRole("log").getByText("Use the <b>staging</b> bucket.").waitFor();
      assert.equal(await page.evaluate(isWide), false);
    });
  }
});
