import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { AGENTS } from "../../src/connect/registry.ts";
import { ROOMY } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { newFolder } from "../support/program.ts";
import { openWorld, type World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { visitConsole } from "./console-screens.ts";
import { assertAccessible, assertMadeForThumbsAndLargeText } from "./wcag.ts";

/** A home in which three agents are in use, one of them with the hook. */
async function homeOfThree(): Promise<string> {
  const home = newFolder();
  for (const folder of [".codex", ".gemini", ".cursor"]) mkdirSync(join(home, folder), { recursive: true });
  const codex = await AGENTS["codex"]?.load();
  const text = codex?.withHook("", { command: "parley hook codex", timeoutSeconds: 60 }) ?? "";
  writeFileSync(join(home, ".codex/hooks.json"), text);
  return home;
}

describe("the console's page of agents", () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    world = await openWorld({ on: "sqlite", running: true, env: { ...ROOMY, HOME: await homeOfThree() } });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  const ask = async (agent: string, call_id: string, command: string): Promise<void> => {
    const body = { run_id: "s", call_id, spec: { fn: "Bash", kwargs: { command } } };
    const reply = await world.call("POST", "/a2h/v1alpha1/function_calls", { headers: { "x-agent-id": agent }, body });
    assert.equal(reply.status, 200, reply.text);
  };

  it("shows from the checklist which go through Parley, the last prompt of each, and how to connect the others", async () => {
    const operator = await decider(world, "1");
    await ask("codex", "codex:1", "rm -rf build");
    await operator.decides({ approved: false, comment: "no" });
    await ask("opencode", "opencode:1", "ls");

    await using admin = await visitConsole(browser, { world }, { screen: "phone" }, "/console/setup");
    const { page } = admin;
    const row = (name: string) => page.getByRole("listitem").filter({ hasText: name });
    const step = row("Prompts of agents");
    await step.getByText("1 of 3 agents of this computer go through Parley.").waitFor();
    await step.getByText("To do").waitFor();
    await page.getByRole("link", { name: "Prompts of agents" }).click();

    await page.getByRole("heading", { name: "Agents", exact: true }).waitFor();
    await page.getByText("1 of 3 agents of this computer go through Parley.").waitFor();
    await row("Codex").getByText("Goes through Parley").waitFor();
    await row("Codex")
      .getByText(/^Last prompt .*: \u2068Bash\u2069, rejected by \u2068operator\u2069\./)
      .waitFor();
    await row("Codex").getByText("Run `rm -rf build`").waitFor();
    await row("Gemini CLI").getByText("Not connected").waitFor();
    await row("Gemini CLI").getByText("No prompt yet.").waitFor();
    await page.getByRole("region", { name: "Command" }).getByText("parley connect gemini cursor").waitFor();
    await page.getByRole("heading", { name: "Prompts from other computers" }).waitFor();
    await row("opencode")
      .getByText(/\u2068Bash\u2069, waits\./)
      .waitFor();
    assert.equal(await row("Claude Code").count(), 0);

    const asking = row("codex (without a key)");
    await asking.getByText("0% approved of the newest 1 decision").waitFor();
    await row("opencode (without a key)").getByRole("link", { name: "1 waits for people" }).waitFor();
    await asking.getByRole("button", { name: /^Freeze .*codex/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Freeze", exact: true }).click();
    await asking.getByRole("button", { name: "Thaw" }).waitFor();
    await assertAccessible(page, "the page of agents");
    await assertMadeForThumbsAndLargeText(page);
  });
});
