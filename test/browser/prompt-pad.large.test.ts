import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Browser, FrameLocator, Page } from "playwright-core";
import { openAssignments, visitAssignments, type AssignmentWorld } from "./assignment-world.ts";
import { launchBrowser, newProfile } from "./chromium.ts";

const BRIDGE = "/embed/prompt-pad.html";

/**
 * Speaks as Prompt Pad does in a frame (its docs/post-message-mode.md): it waits for `setPrompt`, sends one back at every
 * change, and with `#submit=pm` a `submitPrompt` when somebody presses Submit.
 */
const PAD = `<!doctype html><meta charset="utf-8"><title>Prompt Pad</title><h1>Prompt Pad</h1>
<textarea aria-label="Prompt" disabled></textarea>
<button id="submit">Submit</button><button id="later">Submit later</button>
<script>
  const area = document.querySelector("textarea");
  let prompt;
  const say = (type) => parent.postMessage({ type, prompt }, "*");
  addEventListener("message", (event) => {
    if (event.source !== parent || event.data?.type !== "setPrompt") return;
    prompt = { id: "postmessage", archived: false, ...event.data.prompt };
    area.value = prompt.text;
    area.disabled = false;
  });
  area.addEventListener("input", () => { prompt = { ...prompt, text: area.value }; say("setPrompt"); });
  const submits = location.hash === "#submit=pm";
  document.querySelector("#submit").hidden = !submits;
  document.querySelector("#submit").addEventListener("click", () => submits && say("submitPrompt"));
  document.querySelector("#later").addEventListener("click", () => setTimeout(() => say("submitPrompt"), 5500));
</script>`;

describe("the bridge to Prompt Pad", () => {
  let pad: Server;
  let shop: AssignmentWorld;
  let browser: Browser;
  before(async () => {
    pad = createServer((_request, response) => response.setHeader("content-type", "text/html").end(PAD));
    pad.listen(0, "127.0.0.1");
    await once(pad, "listening");
    const origin = `http://127.0.0.1:${(pad.address() as AddressInfo).port}`;
    shop = await openAssignments({ prompt_pad: origin });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await shop?.[Symbol.asyncDispose]();
    pad?.closeAllConnections();
    pad?.close();
  });

  const open = async (screen: "phone" | "desk") => {
    const visitor = await visitAssignments(browser, shop, { screen }, BRIDGE);
    const frame = visitor.page.frameLocator('iframe[title="Prompt Pad"]');
    await frame.getByLabel("Prompt").and(frame.locator(":enabled")).waitFor();
    return { visitor, page: visitor.page, frame };
  };
  const write = async (frame: FrameLocator, words: string): Promise<void> => frame.getByLabel("Prompt").fill(words);
  const tasks = async (): Promise<{ id: string; title: string }[]> =>
    (await shop.planner("GET", "/assignment")).body.tasks;
  const sent = (page: Page, title: string) => page.getByRole("link", { name: title });

  it("makes what somebody submits a task, as they wrote it, and empties the pad for the next", async () => {
    const { visitor, page, frame } = await open("phone");
    await using _visitor = visitor;
    await write(frame, "Add VAT to the export\n\n<b>As finance said.</b>");
    await frame.getByRole("button", { name: "Submit", exact: true }).click();
    await sent(page, "Add VAT to the export").waitFor();
    await page.waitForFunction(() => !Object.keys(localStorage).some((key) => key.endsWith(".pad")));
    assert.equal(await frame.getByLabel("Prompt").inputValue(), "");
    const [task] = await tasks();
    assert.match(task?.id ?? "", /^[0-9a-f]{12}$/);
    const { body } = await shop.planner("GET", `/assignment/tasks/${task?.id}`);
    assert.equal(body.prompt, "Add VAT to the export\n\n<b>As finance said.</b>");
    await sent(page, "Add VAT to the export").click();
    await page.getByRole("heading", { name: "Add VAT to the export" }).waitFor();
  });

  it("keeps what is being written over a reload", async () => {
    const { visitor, page, frame } = await open("desk");
    await using _visitor = visitor;
    await write(frame, "Half a thou");
    await page.waitForFunction(() => JSON.stringify({ ...localStorage }).includes("Half a thou"));
    await page.reload();
    await page
      .frameLocator("iframe")
      .getByLabel("Prompt")
      .and(page.frameLocator("iframe").locator(":enabled"))
      .waitFor();
    assert.equal(await page.frameLocator("iframe").getByLabel("Prompt").inputValue(), "Half a thou");
  });

  it("sends nothing by itself that nobody has pressed for", async () => {
    const { visitor, page, frame } = await open("desk");
    await using _visitor = visitor;
    const before = (await tasks()).length;
    await write(frame, "Delete everything");
    await frame.getByRole("button", { name: "Submit later" }).click();
    // Whatever is asked of the page meanwhile would count as a press; one is forgotten after five seconds.
    await setTimeout(6000);
    await page.getByRole("alert").getByText("although nobody pressed anything").waitFor();
    assert.equal((await tasks()).length, before);
    await page.getByRole("button", { name: "Drop it" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    assert.equal((await tasks()).length, before);
  });

  it("listens to the framed page alone", async () => {
    const { visitor, page, frame } = await open("desk");
    await using _visitor = visitor;
    const before = (await tasks()).length;
    await page.evaluate((origin) => {
      const data = { type: "submitPrompt", prompt: { text: "From somewhere else" } };
      postMessage(data, location.origin);
      dispatchEvent(new MessageEvent("message", { data, origin }));
      const { contentWindow: source } = document.querySelector("iframe") ?? {};
      dispatchEvent(new MessageEvent("message", { data, origin: location.origin, source: source ?? null }));
    }, shop.world.config.assignment.promptPad);
    await write(frame, "From the pad");
    await frame.getByRole("button", { name: "Submit", exact: true }).click();
    await sent(page, "From the pad").waitFor();
    assert.deepEqual(
      (await tasks()).slice(before).map(({ title }) => title),
      ["From the pad"],
    );
  });

  it("frames nobody else", async () => {
    const { visitor, page } = await open("desk");
    await using _visitor = visitor;
    await page.evaluate(() => {
      const other = document.createElement("iframe");
      other.src = "http://127.0.0.1:1/";
      document.body.append(other);
    });
    await visitor.forgive(/^CSP frame-src/, 1);
  });

  it("is for admins", async () => {
    const context = await newProfile(browser, {});
    const page = await context.newPage();
    await page.goto(shop.world.url + BRIDGE);
    await page.getByRole("heading", { name: "Nobody is signed in" }).waitFor();
    assert.equal(await page.locator("iframe").count(), 0);
    await context.close();
  });
});
