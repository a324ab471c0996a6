import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { appears, beside, eventually, openSite, run, WAITS } from "../support/assign-site.ts";

describe("an agent at work in a repository that the settings name no more", () => {
  it("is ended when the server starts, and its task says why", async () => {
    await using site = await openSite({ repos: [{ name: "shop" }, { name: "blog" }] });
    await site.submit("works", { prompt: run(WAITS) }, "shop");
    await appears(beside(site, "works", "times"));
    await site.kill();
    const file = `${site.dataDir}.yaml`;
    const settings = JSON.parse(readFileSync(file, "utf8")) as { repos: { name: string }[] };
    writeFileSync(file, JSON.stringify({ ...settings, repos: settings.repos.filter(({ name }) => name !== "shop") }));
    await site.start();
    await eventually(
      () => site.query("SELECT 1 AS over FROM task_attempts WHERE ended_at IS NOT NULL").length === 1,
      () => `the end of the attempt\n${site.run.err()}`,
      20_000,
    );
    const [task] = site.query("SELECT state, error FROM tasks WHERE id = 'works'");
    assert.deepEqual(
      { ...task },
      { state: "failed", error: "there is no repository called shop in the settings any more" },
    );
    assert.deepEqual(await site.processes("works"), []);
  });
});
