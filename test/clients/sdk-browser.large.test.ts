import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../browser/chromium.ts";
import { openWorld, type World } from "../support/world.ts";
import { EXPECTED } from "./anywhere.ts";
import { bundled } from "./bundle.ts";
import { answerAll } from "./crowd.ts";

/** Somebody else's page: it may reach the server because its origin is listed. */
describe("the packed SDK in a browser", () => {
  let [site, origin]: [Server | undefined, string] = [undefined, ""];
  let browser: Browser;
  let world: World;
  before(async () => {
    const program = await bundled("test/clients/anywhere.ts");
    const worker = `import { tryOut } from "/program.js";
      onmessage = async ({ data }) => postMessage([typeof process, typeof window, await tryOut(data)]);`;
    site = createServer(({ url }, response) => {
      const [type, text] =
        url === "/program.js" ? ["text/javascript", program] : url === "/worker.js" ? ["text/javascript", worker] : [];
      response.writeHead(200, { "content-type": type ?? "text/html" }).end(text ?? "<title>Elsewhere</title>");
    }).listen(0, "127.0.0.1");
    await once(site, "listening");
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    world = await openWorld({ on: "sqlite", running: true, env: { PARLEY_CORS_ORIGINS: origin } });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
    site?.closeAllConnections();
    site?.close();
  });

  const places: Record<string, (page: Page, url: string) => Promise<unknown>> = {
    "a page of another origin": (page, url) =>
      page.evaluate(
        async ([module, server]) => {
          const { tryOut } = (await import(module as string)) as typeof import("./anywhere.ts");
          return ["undefined", "object", await tryOut(server as string)];
        },
        ["/program.js", url],
      ),
    "a worker, which has neither a window nor anything of Node": (page, url) =>
      page.evaluate((server) => {
        const worker = new Worker("/worker.js", { type: "module" });
        return new Promise((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.postMessage(server);
        });
      }, url),
  };
  for (const [place, run] of Object.entries(places)) {
    it(`asks, listens, waits and cancels in ${place}`, async () => {
      const page = await browser.newPage();
      await page.goto(origin);
      using _crowd = answerAll(world.url, "Which label is clearer?");
      const [node, window, came] = (await run(page, world.url)) as [string, string, unknown];
      assert.deepEqual(
        [node, window, came],
        ["undefined", place.startsWith("a page") ? "object" : "undefined", EXPECTED],
      );
      await page.close();
    });
  }
});
