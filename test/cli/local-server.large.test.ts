import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { serverUrl } from "../../src/cli/server-client.ts";
import { newFolder, parley, type Run, serve, stop } from "../support/program.ts";

describe("a command that talks to a server", () => {
  const dataDir = newFolder();
  const env = { PARLEY_DATA_DIR: dataDir };
  let server: Run & { url: string };
  before(async () => (server = await serve(dataDir)));
  after(() => stop(server));

  it("finds the one that runs on the data directory, whatever its port", async () => {
    const { code, out, err } = await parley(["ask", "Which label is clearer?"], env);
    assert.equal(code, 0, err);
    assert.equal((await fetch(`${server.url}/q/${out.trim()}`)).status, 200);
  });

  it("goes where a flag or a variable says, although one runs here", () => {
    assert.equal(serverUrl(undefined, env), server.url);
    assert.equal(serverUrl("http://box:1/", env), "http://box:1");
    assert.equal(serverUrl(undefined, { ...env, PARLEY_URL: "http://box:2" }), "http://box:2");
    assert.equal(serverUrl(undefined, { ...env, PARLEY_PORT: "4" }), "http://127.0.0.1:4");
    assert.equal(serverUrl(undefined, { ...env, PARLEY_PORT: new URL(server.url).port }), server.url);
    assert.equal(serverUrl(undefined, { PARLEY_DATA_DIR: newFolder() }), "http://127.0.0.1:3415");
  });

  it("believes no note of a server that was killed", () => {
    const noted = JSON.parse(readFileSync(join(dataDir, "server.json"), "utf8")) as { url: string; starttime: string };
    assert.equal(noted.url, server.url);
    const former = newFolder();
    mkdirSync(former);
    assert.equal(
      serverUrl(undefined, { PARLEY_DATA_DIR: copyOf({ ...noted, starttime: "1" }) }),
      "http://127.0.0.1:3415",
    );
    assert.equal(serverUrl(undefined, { PARLEY_DATA_DIR: copyOf(noted) }), server.url);
    function copyOf(note: object): string {
      writeFileSync(join(former, "server.json"), JSON.stringify(note));
      return former;
    }
  });
});
