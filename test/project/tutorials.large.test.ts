import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../browser/chromium.ts";
import { type Visitor, visit } from "../browser/visitor.ts";
import { ROOT_FOLDER } from "../support/documents.ts";
import { itWith } from "../support/parts.ts";
import { reservePort } from "../support/ports.ts";
import { until } from "../support/program.ts";
import { isAsShown, Walker } from "../support/tutorial.ts";

const itWithCurl = await itWith("curl");
const HOME_ADDRESS = "127.0.0.1";

/** An address under which others in the local network would reach this machine, if it is in one. */
function localAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? HOME_ADDRESS;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const confirm = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name }).click();

describe("the tutorials, walked in their order in an empty home", () => {
  let browser: Browser;
  let walker: Walker;
  let port: string;
  let phone: Visitor | undefined;
  before(async () => {
    browser = await launchBrowser();
    port = String(await reservePort());
    walker = new Walker(port);
  });
  after(async () => {
    await phone?.[Symbol.asyncDispose]();
    await browser.close();
    await walker.stop();
  });
  const replacements = () =>
    [
      ["REPOSITORY", ROOT_FOLDER],
      ["192.168.1.20", localAddress()],
      ["3415", port],
    ] as const;

  itWithCurl("answers a first question, of a terminal and of a program", async () => {
    const url = `http://${HOME_ADDRESS}:${port}`;
    const open = async (prompt: string) => {
      const visitor = await visit(browser, url, { screen: "desk" });
      await visitor.page.getByRole("link", { name: prompt }).click();
      return visitor;
    };
    await walker.walk(
      "docs/tutorials/first-question.md",
      {
        'npx parley ask "Which label is clearer?" --options "Send,Submit" --wait': async () => {
          await using visitor = await open("Which label is clearer?");
          await visitor.page.getByText("Send", { exact: true }).first().click();
          await button(visitor.page, "Send").click();
          await visitor.page
            .getByText(/^\+\d+ points?/)
            .first()
            .waitFor();
        },
        'curl -s "http://127.0.0.1:3415/agent/questions/$ID?wait=55"': async () => {
          await using visitor = await open("Should this error message");
          await visitor.page.getByLabel("Your answer").fill("State the facts, then say what to do next.");
          await button(visitor.page, "Send").click();
          await visitor.page
            .getByText(/^\+\d+ points?/)
            .first()
            .waitFor();
        },
      },
      replacements(),
    );
  });

  itWithCurl("approves and rejects on a phone", async () => {
    let runs = 0;
    await walker.walk(
      "docs/tutorials/first-approval.md",
      {
        "npx parley link --person 2 --url http://192.168.1.20:3415": async (said) => {
          const link = await until(() => /^http\S+/m.exec(said())?.[0], "the link");
          phone = await visit(browser, link, { screen: "phone", path: link });
          await phone.page.getByText("Signed in as Ana Ruiz").waitFor();
        },
        "node refund.mjs": async () => {
          const { page } = phone ?? assert.fail("nobody is signed in");
          runs += 1;
          await page
            .getByRole("link", { name: /Refund/i })
            .first()
            .click();
          await page.getByText("A-1007").first().waitFor();
          if (runs === 1) {
            await button(page, "Approve").tap();
            await confirm(page, "Approve");
            await page.getByText("Approved by you", { exact: true }).waitFor();
          } else {
            await button(page, "Reject").tap();
            await page.getByRole("dialog").getByLabel("Reason").fill("Ask for a photo first");
            await confirm(page, "Reject");
            await page.getByText("Rejected by you", { exact: true }).waitFor();
          }
          await page.goto("/inbox");
        },
      },
      replacements(),
    );
  });

  itWithCurl("brings the prompts of an agent to that phone", async () => {
    // Somebody has used Gemini CLI here.
    mkdirSync(join(walker.home, ".gemini"));
    await walker.walk(
      "docs/tutorials/all-agents-on-your-phone.md",
      {
        "npx parley connect --to 2": async () => {
          const { page } = phone ?? assert.fail("nobody is signed in");
          await page
            .getByRole("link", { name: /printf hello/ })
            .first()
            .click();
          await page.getByText("printf hello").first().waitFor();
          await button(page, "Approve").tap();
          await confirm(page, "Approve");
          await page.getByText("Approved by you", { exact: true }).waitFor();
        },
      },
      replacements(),
    );
  });

  it("has a coding agent's commit reviewed and merged", async () => {
    await using visitor = await visit(browser, `http://${HOME_ADDRESS}:${port}`, { screen: "desk" });
    const { page } = visitor;
    await walker.walk(
      "docs/tutorials/first-coding-task.md",
      {
        "npx parley link": async (said) => {
          await page.goto(await until(() => /^http\S+/m.exec(said())?.[0], "the link"));
          await page.getByText("Connect an agent").first().waitFor();
        },
        "npx parley task open readme": async (said) => {
          await page.goto(await until(() => /^http\S+/m.exec(said())?.[0], "where it is reviewed"));
          await page.getByText("Lamps and candles.").first().waitFor();
          await button(page, "Approve").click();
          await confirm(page, "Approve");
          await page.getByText("Answered by you").first().waitFor();
        },
      },
      replacements(),
    );
  });

  it("compares what is shown with what is printed", () => {
    for (const [shown, output] of [
      ["one\ntwo\n", "one\ntwo\n"],
      ["...\n  data …\n", "Parley\n  more\n  data /home\n"],
      ["id q_…, open\n...\n", "id q_4Jx, open\n"],
    ] as const) {
      assert.ok(isAsShown(shown, output), shown);
    }
    for (const [shown, output] of [
      ["one\n", "one\ntwo\n"],
      ["q_… open\n", "q_4Jx closed\n"],
      ["a.c\n", "abc\n"],
    ] as const) {
      assert.ok(!isAsShown(shown, output), shown);
    }
  });
});
