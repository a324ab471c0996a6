import assert from "node:assert/strict";
import { it } from "node:test";
import { askPeople, toPerson } from "../support/addressed.ts";
import { launchBrowser } from "./chromium.ts";
import { nameSomebody, openInboxWorld } from "./inbox-world.ts";

it("sets words in the direction of their own script, line by line as they were written", async () => {
  const words = "أيّ اسم أوضح؟\n\nالسطر الأول\nالسطر الثاني";
  const option = { name: "one", title: "الأول", interactive: false };
  const form = { kind: "reply" as const, options: [option], listed: false };
  await using world = await openInboxWorld();
  const ana = await nameSomebody(world, "Ana Ruiz");
  const made = await askPeople(world.server.ctx, {
    audience: toPerson(ana.id),
    title: "أيّ اسم أوضح؟",
    words,
    digest: null,
    form,
  });
  await using browser = await launchBrowser();
  await using visitor = await ana.visit(browser, { screen: "phone", ask: made });
  const { page } = visitor;
  const directionOf = (one: ReturnType<typeof page.getByText>) => one.evaluate((it) => getComputedStyle(it).direction);
  const prose = page.getByText("السطر الأول");
  assert.equal(await prose.innerText(), "السطر الأول\nالسطر الثاني");
  const box = page.getByLabel("Or write your own");
  assert.equal(await directionOf(box), "ltr", "nothing is written yet");
  await box.fill("لا هذا ولا ذاك");
  const shown = [page.getByRole("heading", { level: 1 }), prose, page.getByText("الأول", { exact: true }), box];
  for (const one of shown) assert.equal(await directionOf(one), "rtl");
  await page.getByRole("button", { name: "Send" }).tap();
  const kept = page.getByText("لا هذا ولا ذاك");
  await page.getByText("Answered by you").waitFor();
  assert.equal(await directionOf(kept), "rtl");
});
