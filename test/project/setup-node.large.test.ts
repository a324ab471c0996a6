import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { newFolder } from "../support/program.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const NAME = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const VERSION = "24.99.0";

/** Runs a program to its end, and returns its exit code and its output. */
function run(program: string, args: string[], cwd: string, env = process.env): Promise<{ code: number; said: string }> {
  return new Promise((done) => {
    execFile(program, args, { cwd, env }, (error, out, err) =>
      done({ code: error ? Number(error.code) : 0, said: out + err }),
    );
  });
}

const integrityOf = (archive: Buffer) => `sha512-${createHash("sha512").update(archive).digest("base64")}`;

const folder = newFolder();
/** The archive that the registry sends for every package. */
let served: Buffer;
const registry = createServer((request, response) => {
  const name = request.url?.slice(1).replace(/\.tgz$/, "") ?? "";
  if (request.url?.endsWith(".tgz")) return response.end(served);
  // The integrity in the registry's reply matches the archive that it sends.
  const dist = { tarball: `http://${request.headers.host}/${name}.tgz`, integrity: integrityOf(served) };
  const versions = { [VERSION]: { name, version: VERSION, bin: { node: "bin/node" }, dist } };
  response.end(JSON.stringify({ name, "dist-tags": { latest: VERSION }, versions }));
});
// A slow npm pauses for longer than five seconds, after which Node closes an idle connection.
registry.keepAliveTimeout = 0;
before(async () => {
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
});
after(() => {
  registry.closeAllConnections();
  registry.close();
});

/** Writes a checkout, and returns how to set it up. */
function makeCheckout(name: string, files: Record<string, object>) {
  const place = join(folder, name);
  const usual = { "adapters/package.json": {}, "sdk/package.json": {}, "sdk/src/empty.json": {} };
  const hook = { "src/empty.json": {}, "scripts/bundle-hook.mjs": {} };
  const root = {
    ...files["package.json"],
    scripts: { "build:hook": "mkdir -p bin/hook && echo whole > bin/hook/parley.cjs" },
  };
  const web = { "web/package.json": { name: "web", scripts: { build: "mkdir -p dist" } } };
  for (const [path, content] of Object.entries({ ...usual, ...web, ...hook, ...files, "package.json": root })) {
    put(join(place, path), JSON.stringify(content));
  }
  copyFileSync(join(ROOT, "scripts/setup.mjs"), join(place, "scripts/setup.mjs"));
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
    npm_config_cache: join(folder, "cache"),
  };
  return {
    place,
    env,
    setUp: (...flags: string[]) => run(process.execPath, ["scripts/setup.mjs", ...flags], place, env),
  };
}

describe("the Node that setup brings along", () => {
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
  async function setUpWithNode(name: string, integrity: string): Promise<{ code: number; said: string; node: string }> {
    const node = { name: "@parley/node", optionalDependencies: { [NAME]: VERSION } };
    const lock: Record<string, object> = {
      "": { name: "small", workspaces: ["scripts/node", "web"] },
      "node_modules/@parley/node": { resolved: "scripts/node", link: true },
      "node_modules/web": { resolved: "web", link: true },
      "scripts/node": node,
      web: { name: "web" },
      [`node_modules/${NAME}`]: { version: VERSION, integrity, optional: true, bin: { node: "bin/node" } },
    };
    const { setUp, place } = makeCheckout(name, {
      "package.json": { name: "small", workspaces: ["scripts/node", "web"] },
      "package-lock.json": { name: "small", lockfileVersion: 3, requires: true, packages: lock },
      "scripts/node/package.json": node,
    });
    const end = await setUp();
    return { ...end, node: join(place, "node_modules/.bin/node") };
  }

  it("is the one that the lock file names", async () => {
    served = await pack("locked");
    const { code, said, node } = await setUpWithNode("right", integrityOf(served));
    assert.equal(code, 0, said);
    assert.equal((await run(node, [], folder)).said, "locked\n");
  });

  it("is refused when the registry sends another under the same name and version", async () => {
    const integrity = integrityOf(await pack("locked"));
    served = await pack("another");
    const { node } = await setUpWithNode("wrong", integrity);
    assert.equal(existsSync(node), false);
  });
});

describe("the program of hooks that setup builds", () => {
  it("is built again where it is gone, empty or cut, and only then", async () => {
    const root = { name: "small", workspaces: ["web"] };
    const packages = { "": root, "node_modules/web": { resolved: "web", link: true }, web: { name: "web" } };
    const { place, setUp } = makeCheckout("cut-hook", {
      "package.json": root,
      "package-lock.json": { name: "small", lockfileVersion: 3, requires: true, packages },
      "scripts/node/package.json": { name: "@parley/node" },
    });
    const hook = join(place, "bin/hook/parley.cjs");
    assert.match((await setUp()).said, /Building the program of hooks/);
    for (const damage of [() => writeFileSync(hook, ""), () => writeFileSync(hook, "who"), () => rmSync(hook)]) {
      damage();
      assert.match((await setUp()).said, /^Building the program of hooks/);
      assert.equal(readFileSync(hook, "utf8"), "whole\n");
      assert.equal((await setUp()).said, "");
    }
  });
});

describe("what setup installs", () => {
  /** An archive of a package that the lock file may name, and its entry there. */
  async function packed(name: string) {
    const made = join(folder, `package-${name}`);
    put(join(made, "package.json"), JSON.stringify({ name, version: VERSION }));
    assert.equal((await run("npm", ["pack", "--silent"], made)).code, 0);
    served = readFileSync(join(made, `${name}-${VERSION}.tgz`));
    return { version: VERSION, integrity: integrityOf(served) };
  }

  it("holds the optional packages that another npm left out before it", async () => {
    const locked = await packed("extra");
    const root = { name: "small", workspaces: ["web"], optionalDependencies: { extra: VERSION } };
    const packages = {
      "": root,
      "node_modules/web": { resolved: "web", link: true },
      web: { name: "web" },
      "node_modules/extra": { ...locked, optional: true },
    };
    const { place, setUp, env } = makeCheckout("left-out", {
      "package.json": root,
      "package-lock.json": { name: "small", lockfileVersion: 3, requires: true, packages },
      "scripts/node/package.json": { name: "@parley/node" },
    });
    const has = () => existsSync(join(place, "node_modules/extra"));
    assert.equal((await run("npm", ["ci", "--omit=optional", "--no-audit"], place, env)).code, 0);
    assert.equal(has(), false);
    const added = await setUp("--run");
    assert.equal(added.code, 0, added.said);
    assert.equal(has(), true, added.said);

    assert.deepEqual(await setUp("--run"), { code: 0, said: "" });
  });

  it("is what running needs with --run, and the rest is added to it without taking anything away", async () => {
    const locked = await packed("tool");
    const root = {
      name: "small",
      workspaces: ["web"],
      dependencies: { used: VERSION },
      devDependencies: { tool: VERSION },
    };
    const packages = {
      "": root,
      "node_modules/web": { resolved: "web", link: true },
      web: { name: "web" },
      "node_modules/used": locked,
      "node_modules/tool": { ...locked, dev: true },
    };
    const { place, setUp } = makeCheckout("parts", {
      "package.json": root,
      "package-lock.json": { name: "small", lockfileVersion: 3, requires: true, packages },
      "scripts/node/package.json": { name: "@parley/node" },
    });
    const has = (...path: string[]) => existsSync(join(place, "node_modules", ...path));
    const first = await setUp("--run");
    assert.equal(first.code, 0, first.said);
    assert.deepEqual([has("used"), has("tool")], [true, false]);
    assert.deepEqual(await setUp("--run"), { code: 0, said: "" });

    put(join(place, "node_modules/used/in-use.json"), "{}");
    const second = await setUp();
    assert.equal(second.code, 0, second.said);
    assert.deepEqual([has("used", "in-use.json"), has("tool")], [true, true]);
    for (const flags of [[], ["--run"]]) assert.deepEqual(await setUp(...flags), { code: 0, said: "" });
  });
});

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
