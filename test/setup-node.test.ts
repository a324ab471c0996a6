import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { newFolder } from "./program.ts";

const ROOT = resolve(import.meta.dirname, "..");
const NAME = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const VERSION = "24.99.0";

/** Runs a program to its end, and returns how it ended and all that it said. */
function run(program: string, args: string[], cwd: string, env = process.env): Promise<{ code: number; said: string }> {
  return new Promise((done) => {
    execFile(program, args, { cwd, env }, (error, out, err) =>
      done({ code: error ? Number(error.code) : 0, said: out + err }),
    );
  });
}

const integrityOf = (archive: Buffer) => `sha512-${createHash("sha512").update(archive).digest("base64")}`;

describe("the Node that setup brings along", () => {
  const folder = newFolder();
  let served: Buffer;
  const registry = createServer((request, response) => {
    const here = `http://${request.headers.host}/${NAME}.tgz`;
    if (request.url?.endsWith(".tgz")) return response.end(served);
    // What a registry says of its own package is true of what it sends.
    const dist = { tarball: here, integrity: integrityOf(served) };
    const versions = { [VERSION]: { name: NAME, version: VERSION, bin: { node: "bin/node" }, dist } };
    response.end(JSON.stringify({ name: NAME, "dist-tags": { latest: VERSION }, versions }));
  });

  // A slow npm pauses for longer than the five seconds after which Node hangs up on whoever says nothing.
  registry.keepAliveTimeout = 0;

  before(async () => {
    registry.listen(0, "127.0.0.1");
    await once(registry, "listening");
  });
  after(() => {
    registry.closeAllConnections();
    registry.close();
  });

  /** A package of Node for this platform, whose program is a shell script. */
  async function pack(says: string): Promise<Buffer> {
    const place = join(folder, `package-${says}`);
    put(join(place, "package.json"), JSON.stringify({ name: NAME, version: VERSION, bin: { node: "bin/node" } }));
    put(join(place, "bin/node"), `#!/bin/sh\necho ${says}\n`);
    chmodSync(join(place, "bin/node"), 0o755);
    assert.equal((await run("npm", ["pack", "--silent"], place)).code, 0);
    return readFileSync(join(place, `${NAME}-${VERSION}.tgz`));
  }

  /** Sets a checkout up that needs nothing but this package, locked with an integrity. */
  async function setUp(name: string, integrity: string): Promise<{ code: number; said: string; node: string }> {
    const place = join(folder, name);
    const node = { name: "@parley/node", optionalDependencies: { [NAME]: VERSION } };
    const lock: Record<string, object> = {
      "": { name: "small", workspaces: ["scripts/node", "web"] },
      "node_modules/@parley/node": { resolved: "scripts/node", link: true },
      "node_modules/web": { resolved: "web", link: true },
      "scripts/node": node,
      web: { name: "web" },
      [`node_modules/${NAME}`]: { version: VERSION, integrity, optional: true, bin: { node: "bin/node" } },
    };
    const files = {
      "package.json": { name: "small", workspaces: ["scripts/node", "web"] },
      "package-lock.json": { name: "small", lockfileVersion: 3, requires: true, packages: lock },
      "scripts/node/package.json": node,
      "web/package.json": { name: "web", scripts: { build: "mkdir -p dist" } },
      "adapters/package.json": {},
      "sdk/package.json": {},
      "sdk/src/empty.json": {},
    };
    for (const [path, content] of Object.entries(files)) put(join(place, path), JSON.stringify(content));
    copyFileSync(join(ROOT, "scripts/setup.mjs"), join(place, "scripts/setup.mjs"));
    const env = {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
      npm_config_cache: join(folder, "cache"),
    };
    const end = await run(process.execPath, ["scripts/setup.mjs"], place, env);
    return { ...end, node: join(place, "node_modules/.bin/node") };
  }

  it("is the one that the lock file names", async () => {
    served = await pack("locked");
    const { code, said, node } = await setUp("right", integrityOf(served));
    assert.equal(code, 0, said);
    assert.equal((await run(node, [], folder)).said, "locked\n");
  });

  it("is refused when the registry sends another under the same name and version", async () => {
    const integrity = integrityOf(await pack("locked"));
    served = await pack("another");
    const { node } = await setUp("wrong", integrity);
    assert.equal(existsSync(node), false);
  });
});

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
