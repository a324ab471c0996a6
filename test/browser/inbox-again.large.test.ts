import assert from "node:assert/strict";
import { it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { OPERATOR } from "../support/identities.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { newAsk } from "../support/relay.ts";
import { openWorld } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { row, visit } from "./visitor.ts";

it("has the same question answered so the next time, where whoever answers it ticks that", async () => {
  await using world = await openWorld({ on: "sqlite", running: true });
  const { ctx } = world.server;
  const { text } = await createKey(ctx, { name: "release-bot", scope: "executor" });
  const headers = { authorization: `Bearer ${text}` };
  const prompt = "Which currency do the release notes name first?";
  const ask = async (step_id: string): Promise<string> => {
    const reply = await world.call("POST", "/asks", { headers, body: newAsk({ step_id, prompt }) });
    assert.ok(reply.status < 300, reply.text);
    return reply.body.ask_id;
  };
  const answerTo = async (id: string) => {
    const reply = await world.call("GET", `/asks/${id}/answer?wait=25s`, { headers });
    assert.equal(reply.status, 200, reply.text);
    return reply.body;
  };
  const asked = await ask("notes");

  await using browser = await launchBrowser();
  const path = `/inbox#start=${(await createSignInLink(ctx, OPERATOR)).code}`;
  await using visitor = await visit(browser, world.url, { screen: "phone", path });
  const { page } = visitor;
  await row(page, prompt).tap();
  await page.getByLabel("Your answer").fill("EUR");
  await page.getByLabel("Answer the same next time").check();
  await page.getByRole("button", { name: "Send" }).tap();
  await page.getByText("Answered by you").waitFor();
  const first = await answerTo(asked);
  assert.deepEqual([first.answer_text, first.source], ["EUR", "person"]);

  const again = await ask("notes-again");
  const second = await answerTo(again);
  assert.deepEqual([second.answer_text, second.source, second.answered_by], ["EUR", "cache", first.answered_by]);
  await page.goto("/inbox");
  await page.getByText("Nothing waits for you").waitFor();

  await page.goto(`/console/asks/${again}`);
  await page.getByRole("heading", { level: 1, name: "Answered by operator" }).waitFor();
  await page.locator("summary").filter({ hasText: "relay.answered" }).getByText("the cache").waitFor();
});
