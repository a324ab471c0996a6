import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { animatedWebp } from "./animated-webp.ts";
import { launchBrowser, newProfile } from "./chromium.ts";
import { pictureFile, PICTURES_FOLDER } from "./pictures.ts";

const MOST_BYTES = 300_000;
const ADDRESS = "https://picture.example/";

describe("the moving picture of the README", () => {
  const [moving, still] = ["approval.webp", "approval-still.webp"].map((name) =>
    readFileSync(join(PICTURES_FOLDER, name)),
  ) as [Buffer, Buffer];

  it("is small, and a browser shows each of its pictures", async (t) => {
    assert.ok(moving.length < MOST_BYTES, `${moving.length} bytes`);
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await (await newProfile(browser, {})).newPage();
    // Browsers decode pictures for programs on https alone.
    await page.route(ADDRESS, (route) => route.fulfill({ contentType: "text/html", body: "" }));
    await page.route(`${ADDRESS}moving`, (route) => route.fulfill({ contentType: "image/webp", body: moving }));
    await page.goto(ADDRESS);
    const decoded = await page.evaluate(async () => {
      const { body } = await fetch("/moving");
      if (!body) throw new Error("there is no picture");
      const decoder = new ImageDecoder({ data: body, type: "image/webp" });
      await decoder.completed;
      const count = decoder.tracks.selectedTrack?.frameCount ?? 0;
      const durations: (number | null)[] = [];
      for (let frameIndex = 0; frameIndex < count; frameIndex += 1) {
        durations.push((await decoder.decode({ frameIndex })).image.duration);
      }
      return { durations, repeats: decoder.tracks.selectedTrack?.repetitionCount === Infinity };
    });
    assert.deepEqual(decoded, { durations: [1.8e6, 2.2e6, 3e6, 2.5e6, 4e6], repeats: true });
  });

  it("is not joined from pictures of different sizes", () => {
    const smaller = readFileSync(join(PICTURES_FOLDER, pictureFile("question", "phone", "light")));
    const frames = [still, smaller].map((webp) => ({ webp, milliseconds: 100 }));
    assert.throws(() => animatedWebp(frames), /picture 1 has another size/);
  });
});
