/**
 * Takes the moving picture of the README: a program asks for an approval, a person gives it on a phone, and the program
 * goes on. The server, the program and the phone's screens are real. `node test/browser/approval-picture.ts` writes
 * docs/screenshots/approval.webp, and for readers who want no motion its last picture, approval-still.webp.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { animatedWebp, type Frame } from "./animated-webp.ts";
import { launchBrowser, newProfile } from "./chromium.ts";
import { nameSomebody, openInboxWorld } from "./inbox-world.ts";
import { PICTURES_FOLDER, takePicture } from "./pictures.ts";
import { atRest } from "./visitor.ts";

const SDK = import.meta.resolve("@parley/sdk");
const PHONE = { width: 360, height: 600 };

const PROGRAM = `import { Parley } from "@parley/sdk";

const parley = new Parley();
const refund = parley.requireApproval(
  async function issueRefund({ order, amount }) {
    return \`Refunded \${amount} euros for \${order}.\`;
  },
  { to: "Ana Ruiz" },
);

console.log(await refund({
  order: "A-1007", amount: 18.5
}));`;

const STYLE = `
  body { margin: 0; width: 960px; height: 660px; background: #e7e9ee; font: 14px/1.5 sans-serif; position: relative }
  h2 { font-size: 15px; margin: 0 0 8px; color: #33384a; font-weight: 600 }
  section { position: absolute; top: 22px }
  .program { left: 28px; width: 510px } .phone { right: 28px; width: 360px }
  pre { margin: 0; padding: 16px; font: 13.5px/1.5 monospace; border-radius: 8px; white-space: pre-wrap }
  .code { background: #ffffff; color: #1d2233 }
  .terminal { background: #171a24; color: #e8eaf0; margin-top: 14px; height: 170px }
  img { display: block; width: 360px; height: 600px; border-radius: 16px; box-shadow: 0 0 0 4px #1d2233 }
`;

const escapeHtml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** Runs the program in a process of its own, and resolves with what it prints. */
async function runProgram(url: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-picture-"));
  try {
    const file = join(folder, "refund.mjs");
    writeFileSync(file, PROGRAM.replace("@parley/sdk", SDK).replace("new Parley()", `new Parley({ url: "${url}" })`));
    return (await promisify(execFile)(process.execPath, [file])).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Draws the program, its terminal and the phone side by side. */
async function openCanvas(browser: Browser) {
  const context = await newProfile(browser, { viewport: { width: 960, height: 660 } });
  const page = await context.newPage();
  return async (phone: Page, terminal: string): Promise<Buffer> => {
    await atRest(phone);
    const screen = (await phone.screenshot()).toString("base64");
    await page.setContent(`<style>${STYLE}</style>
      <section class="program"><h2>A program, or an agent's tool</h2>
        <pre class="code">${escapeHtml(PROGRAM)}</pre><pre class="terminal">${escapeHtml(terminal)}</pre></section>
      <section class="phone"><h2>Ana's phone</h2><img src="data:image/png;base64,${screen}"></section>`);
    await page.locator("img").evaluate((image: HTMLImageElement) => image.decode());
    return takePicture(page, { quality: 50, scale: 1.25 });
  };
}

async function takeFrames(browser: Browser): Promise<Frame[]> {
  await using world = await openInboxWorld();
  const ana = await nameSomebody(world, "Ana Ruiz");
  await using visitor = await ana.visit(browser, { screen: "phone" });
  const { page } = visitor;
  await page.setViewportSize(PHONE);
  const draw = await openCanvas(browser);
  const frames: Frame[] = [];
  const take = async (terminal: string, milliseconds: number): Promise<void> => {
    frames.push({ webp: await draw(page, terminal), milliseconds });
  };

  await take("$ ", 1800);
  const printed = runProgram(world.url);
  const request = page.getByRole("link", { name: /^Refund/ });
  await request.first().waitFor();
  const waiting = "$ node refund.mjs\n";
  await take(waiting, 2200);
  await request.first().click();
  const approve = page.getByRole("button", { name: "Approve" });
  await approve.first().waitFor();
  await take(waiting, 3000);
  await approve.first().click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await take(waiting, 2500);
  await dialog.getByRole("button", { name: "Approve" }).click();
  const done = waiting + (await printed) + "$ ";
  await page.getByText("Approved").first().waitFor();
  await take(done, 4000);
  return frames;
}

const browser = await launchBrowser();
try {
  const frames = await takeFrames(browser);
  writeFileSync(`${PICTURES_FOLDER}approval.webp`, animatedWebp(frames));
  writeFileSync(`${PICTURES_FOLDER}approval-still.webp`, frames.at(-1)?.webp ?? "");
  console.log("docs/screenshots/approval.webp\ndocs/screenshots/approval-still.webp");
} finally {
  await browser.close();
}
