import assert from "node:assert/strict";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gitIn } from "../support/git-in.ts";
import { newFolder } from "../support/program.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/published-metadata.mjs", import.meta.url));

interface Script {
  publicAddress: (remote: string) => string | null;
  publishedMetadata: (folder?: string) => Record<string, unknown>;
}

const load = async (script: string) => (await import(pathToFileURL(script).href)) as Script;

describe("where the published packages say that their sources are", () => {
  it("is the https address of a remote that everybody reaches, without name or password", async () => {
    const { publicAddress } = await load(SCRIPT);
    const addresses: Record<string, string> = {
      "https://github.com/parley/parley.git": "https://github.com/parley/parley.git",
      "https://ana:ghp_secret@github.com/parley/parley/?token=secret#x": "https://github.com/parley/parley",
      "https://git.example.com:8443/parley/parley": "https://git.example.com:8443/parley/parley",
      "git@github.com:parley/parley.git": "https://github.com/parley/parley.git",
      "GitHub.com:/parley/parley": "https://github.com/parley/parley",
      "ssh://git:secret@git.example.com:2222/parley/parley.git": "https://git.example.com/parley/parley.git",
    };
    for (const [remote, address] of Object.entries(addresses)) assert.equal(publicAddress(remote), address, remote);
  });

  it("is not said where the remote is a folder, this computer, a network of one's own, or nothing that is encrypted", async () => {
    const { publicAddress } = await load(SCRIPT);
    const unsaid = [
      "/srv/git/parley.git",
      "../parley",
      "parley",
      "C:\\git\\parley",
      "file:///srv/git/parley.git",
      "https://localhost/parley",
      "https://127.0.0.1:3000/parley",
      "https://[::1]/parley",
      "https://git/parley",
      "ssh://git@127.1/parley",
      "git@localhost:parley",
      "git@box:parley",
      "git@git.localhost.:parley",
      "https://10.0.0.7/parley",
      "https://git.local/parley",
      "https://git.corp.internal/parley",
      "http://git.example.com/parley",
      "git://git.example.com/parley",
      "https://git.example.com/",
      "",
      "https://",
    ];
    for (const remote of unsaid) assert.equal(publicAddress(remote), null, remote);
  });

  it("comes from the clone's own remote, unless package.json says it", async () => {
    const clone = newFolder();
    const scripts = join(clone, "scripts");
    mkdirSync(scripts, { recursive: true });
    cpSync(SCRIPT, join(scripts, "published-metadata.mjs"));
    const manifest = (more: object) =>
      writeFileSync(join(clone, "package.json"), JSON.stringify({ version: "1.2.3", license: "Apache-2.0", ...more }));
    manifest({});
    const { publishedMetadata } = await load(join(scripts, "published-metadata.mjs"));
    const said = (folder = clone) => {
      const { repository, homepage, bugs } = publishedMetadata(folder);
      return { repository, homepage, bugs };
    };
    const nothing = { repository: undefined, homepage: undefined, bugs: undefined };

    assert.deepEqual(said(), nothing, "no clone");
    gitIn(clone, "init", "--quiet");
    assert.deepEqual(said(), nothing, "no remote");
    gitIn(clone, "remote", "add", "origin", "https://ana:secret@github.com/parley/parley.git");
    assert.deepEqual(said(), {
      repository: { type: "git", url: "git+https://github.com/parley/parley.git" },
      homepage: "https://github.com/parley/parley#readme",
      bugs: { url: "https://github.com/parley/parley/issues" },
    });
    const { directory } = said(join(clone, "sdk")).repository as { directory: string };
    assert.equal(directory, "sdk");

    manifest({ homepage: "https://parley.example" });
    assert.deepEqual(said(), { ...nothing, homepage: "https://parley.example" });
  });

  it("is not said of sources that lie in somebody else's clone", async () => {
    const other = newFolder();
    mkdirSync(join(other, "parley", "scripts"), { recursive: true });
    const copy = join(other, "parley", "scripts", "published-metadata.mjs");
    cpSync(SCRIPT, copy);
    writeFileSync(join(other, "parley", "package.json"), "{}");
    gitIn(other, "init", "--quiet");
    gitIn(other, "remote", "add", "origin", "https://github.com/somebody/else.git");
    assert.equal((await load(copy)).publishedMetadata()["repository"], undefined);
  });
});
