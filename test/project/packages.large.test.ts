import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { greetingsIn } from "../support/log-lines.ts";
import { itWith } from "../support/parts.ts";
import { until } from "../support/program.ts";
import { newAsk } from "../support/relay.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const itWithPython = await itWith("Python's build tools");

/** The modules that run when they are loaded. They are not loaded here. */
const PROGRAMS = [
  "main",
  "schema-worker",
  "secret-worker",
  "child",
  "code-worker",
  "worker-connection-thread",
  "mail-worker",
  "launcher",
];

describe("the packages as they are published", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-packages-"));
  const dist = join(folder, "dist");
  const home = join(folder, "home");
  // Nothing of this checkout is in reach, and no registry: npm has no cache here, and may ask nobody.
  const env = {
    PATH: [dirname(process.execPath), ...(process.env["PATH"] ?? "").split(delimiter)]
      .filter((place) => !place.includes(join("node_modules", ".bin")) || place === dirname(process.execPath))
      .join(delimiter),
    HOME: home,
    npm_config_offline: "true",
    npm_config_update_notifier: "false",
  };
  const server = join(folder, "server");
  const packageOf = (name: string) => join(server, "node_modules", "@parley", name);
  let url = "";
  let key = "";
  let served: ReturnType<typeof serve>;

  /** Installs tarballs in an empty folder, and returns that. */
  async function install(name: string, ...packages: string[]): Promise<string> {
    const project = join(folder, name);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
    await run("npm", ["install", "--no-audit", "--no-fund", ...packages.map(tarballOf)], { cwd: project, env });
    return project;
  }

  function tarballOf(name: string): string {
    const [file = ""] = readdirSync(dist).filter((each) => each.startsWith(`parley-${name}-`));
    return join(dist, file);
  }

  function serve() {
    const child = spawn("npx", ["parley", "serve", "--port", "0", "--data-dir", "data"], { cwd: server, env });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
    return { said: () => said, exited: once(child, "exit") };
  }

  const get = async (path: string) => {
    const reply = await fetch(`${url}${path}`);
    return { status: reply.status, type: reply.headers.get("content-type"), text: await reply.text() };
  };

  before(async () => {
    mkdirSync(home);
    await run(process.execPath, [join(ROOT, "scripts/pack.mjs"), dist], { maxBuffer: 64 * 1024 * 1024 });
    await install("server", "parley");
    served = serve();
    url = await until(() => greetingsIn(served.said())[0]?.url, "the greeting");
    key = await until(() => /PARLEY_KEY=(\w+)/.exec(served.said())?.[1], "the first key");
  });
  after(async () => {
    await run("npx", ["parley", "stop", "--data-dir", "data"], { cwd: server, env });
    assert.deepEqual(await served.exited, [0, null]);
    rmSync(folder, { recursive: true, force: true });
  });

  it("serve from nothing but the tarball and Node, with the web app and the reference", async () => {
    assert.deepEqual(readdirSync(join(server, "node_modules", "@parley")), ["parley"]);
    assert.deepEqual(
      readdirSync(join(server, "node_modules")).filter((name) => !name.startsWith(".")),
      ["@parley"],
    );
    assert.equal((await get("/readyz")).text, "ready");
    const page = await get("/");
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? "";
    assert.equal((await get(script)).type, "application/javascript; charset=utf-8");
    const paths = Object.keys((JSON.parse((await get("/openapi.json")).text) as { paths: object }).paths);
    assert.ok(paths.includes("/agent/questions"), String(paths));
    assert.equal((await get("/docs/swagger-ui-bundle.js")).status, 200);
    assert.match((await get("/metrics")).text, /parley_asks_open/);
  });

  it("load every command, and every part that is loaded when it is wanted", async () => {
    const { stdout } = await run("npx", ["parley", "--help"], { cwd: server, env });
    assert.match(stdout, /parley serve +run the server\n/);
    assert.match(stdout, /parley connect +connect the agents/);
    const lib = join(packageOf("parley"), "lib");
    const isProgram = (name: string) => PROGRAMS.includes(name.replace(/\.js$/, "")) || name === "supervisor-main.js";
    const parts = readdirSync(lib).filter((name) => name.endsWith(".js") && !isProgram(name));
    assert.ok(parts.length > 100, String(parts.length));
    const program = parts.map((name) => `await import(${JSON.stringify(join(lib, name))});`).join("\n");
    await run(process.execPath, ["--input-type=module", "-e", `${program}\nprocess.exit(0);`], { env });
  });

  it("start threads and processes of their own: for secrets, models, their code and coding agents", async () => {
    const made = ["parley", "keys", "create", "runs", "--scope", "executor", "--data-dir", "data"];
    const { stdout } = await run("npx", made, { cwd: server, env });
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${/parley_executor_\w+/.exec(stdout)?.[0]}`,
    };
    const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    const ask = newAsk({ prompt: `May I use ${secret} here?` });
    const asked = await fetch(`${url}/asks`, { method: "POST", headers, body: JSON.stringify(ask) });
    const body = (await asked.json()) as { ask_id: string; prompt: string };
    assert.equal(asked.status, 202, JSON.stringify(body));
    const stored = await (await fetch(`${url}/asks/${body.ask_id}`, { headers })).text();
    assert.match(stored, /May I use .* here/);
    assert.ok(!stored.includes(secret), stored);

    const lib = join(packageOf("parley"), "lib");
    const thread = new Worker(join(lib, "code-worker.js"), { workerData: { code: "6 * 7", input: null, results: [] } });
    const words: unknown[] = [];
    thread.on("message", (word) => words.push(word));
    await once(thread, "exit");
    assert.deepEqual(words, ["ready", { json: "42" }]);

    for (const provider of ["anthropic", "openai", "google", "openai-compatible"]) {
      const reads = [`${lib}/`, join(packageOf("parley"), "package.json")].map((path) => `--allow-fs-read=${path}`);
      const child = spawn(process.execPath, ["--permission", ...reads, "--no-warnings", join(lib, "child.js")]);
      const address = { provider, model: "m", baseUrl: "http://127.0.0.1:9/v1", keyName: null, temperature: 0 };
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (part) => (said += part));
      child.stdin.end(`${JSON.stringify({ type: "begin", address })}\n`);
      await once(child, "close");
      assert.equal(said, '{"type":"ready"}\n');
    }
    const supervisor = run(process.execPath, [join(lib, "supervisor-main.js"), join(folder, "nowhere")]);
    await assert.rejects(supervisor, /ENOENT.*nowhere/);
  });

  it("say in one sentence what to do on an older Node", async () => {
    const old = join(folder, "old.cjs");
    writeFileSync(
      old,
      `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } });
       Object.defineProperty(process, "version", { value: "v18.20.8" });`,
    );
    const command = join(packageOf("parley"), "bin", "parley.cjs");
    await assert.rejects(run(process.execPath, ["-r", old, command, "serve"]), {
      code: 1,
      stdout: "",
      stderr: "Parley needs Node 24 or newer, and this is v18.20.8: install it from https://nodejs.org.\n",
    });
  });

  it("hold no tests, tools or TypeScript, and the licence of every package that is inside", () => {
    const files = readdirSync(packageOf("parley"), { recursive: true, encoding: "utf8" });
    assert.deepEqual(
      files.filter((path) => /\.(ts|map)$|(^|\/)(test|golden|scripts|bench)\//.test(path)),
      [],
    );
    const notices = readFileSync(join(packageOf("parley"), "THIRD-PARTY-NOTICES.txt"), "utf8");
    const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, object>;
    const web = JSON.parse(readFileSync(join(ROOT, "web/package.json"), "utf8")) as Record<string, object>;
    const all = { ...manifest["dependencies"], ...manifest["optionalDependencies"], ...web["dependencies"] };
    for (const [name, version] of Object.entries(all).filter(([name]) => !name.startsWith("@parley/"))) {
      assert.ok(notices.includes(`\n${name} ${version} (`), name);
    }
    assert.match(notices, /Permission is hereby granted, free of charge/);
    assert.match(notices, /Apache License\s+Version 2\.0/);
  });

  it("say all that a registry shows, and nothing that publint or arethetypeswrong finds wrong", async () => {
    const tarballs = ["parley", "sdk", "adapters"].map(tarballOf);
    await run(process.execPath, [join(ROOT, "scripts/check-packages.mjs"), ...tarballs]);
    for (const tarball of tarballs) {
      const { stdout } = await run("tar", ["-xzOf", tarball, "package/package.json"]);
      const manifest = JSON.parse(stdout) as { name: string };
      const always = "description engines exports files keywords license publishConfig type version".split(" ");
      const more = manifest.name === "@parley/parley" ? ["bin"] : ["main", "sideEffects", "types"];
      const missing = [...always, ...more].filter((key) => !(key in manifest));
      assert.deepEqual(missing, [], manifest.name);
    }
  });

  it("ask from TypeScript and from a framework's tool with nothing else installed", async () => {
    const project = await install("clients", "sdk", "adapters");
    writeFileSync(
      join(project, "ask.js"),
      `import { Parley } from "@parley/sdk";
       import * as adapters from "@parley/adapters";
       const parley = new Parley({ url: ${JSON.stringify(url)}, key: ${JSON.stringify(key)} });
       const { question_id } = await parley.ask({ prompt: "Which label is clearer?", options: ["Send", "Submit"] });
       console.log((await parley.check(question_id)).status, Object.keys(adapters).length > 0);`,
    );
    const { stdout } = await run(process.execPath, ["ask.js"], { cwd: project, env });
    assert.match(stdout, /^\w+ true\n$/);
  });

  itWithPython("ask from Python, installed from the wheel", async () => {
    await run(process.execPath, [join(ROOT, "scripts/build-python.mjs"), dist]);
    const names = readdirSync(dist);
    assert.deepEqual(
      names.filter((name) => name.startsWith("parley_sdk-")).map((name) => name.replace(/[\d.]+\d/, "N")),
      ["parley_sdk-N-py3-none-any.whl", "parley_sdk-N.tar.gz"],
    );
    const [wheel = ""] = names.filter((name) => name.endsWith(".whl"));
    const python = join(folder, "python");
    await run("python3", ["-m", "venv", python]);
    await run(join(python, "bin", "pip"), ["install", "--no-index", "--quiet", join(dist, wheel)]);
    const program = `from parley import Parley
client = Parley(url="${url}", key="${key}")
print(client.check(client.ask("Which label is clearer?", options=["a", "b"]).id).status)`;
    const { stdout } = await run(join(python, "bin", "python"), ["-c", program], { env });
    assert.match(stdout, /^\w+\n$/);
  });
});
