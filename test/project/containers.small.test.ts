import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { parse } from "yaml";
import { COMMANDS } from "../../src/cli/commands.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Stage {
  from: string;
  name: string | undefined;
  lines: string[];
}

/** The image is built by others: here it is only seen that what its recipe names is there. */
describe("the Dockerfile", () => {
  const lines = read("Dockerfile")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line !== "");
  const stages: Stage[] = [];
  for (const line of lines) {
    const [, from, name] = /^FROM (\S+)(?: AS (\S+))?$/.exec(line) ?? [];
    if (from === undefined) stages.at(-1)?.lines.push(line);
    else stages.push({ from, name, lines: [] });
  }
  const all = stages.flatMap((stage) => stage.lines);
  const after = (word: string) =>
    all.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  const manifest = JSON.parse(read("package.json")) as { workspaces: string[] };

  it("builds each stage from Node or from an earlier stage, and the server where no target is named", () => {
    const known = new Set(["node:24-slim"]);
    for (const { from, name, lines: told } of stages) {
      assert.ok(known.has(from), from);
      for (const line of told) {
        const [, source] = /--from=(\S+)/.exec(line) ?? [];
        assert.ok(source === undefined || known.has(source), line);
      }
      if (name !== undefined) known.add(name);
    }
    assert.deepEqual([...known], ["node:24-slim", "package", "server", "agents"]);
    assert.deepEqual(stages.at(-1), { from: "server", name: undefined, lines: [] });
  });

  it("copies files that are there and that .dockerignore lets in, those of every workspace among them", () => {
    const ignored = read(".dockerignore").split("\n");
    const copied = after("COPY")
      .filter((line) => !line.startsWith("--from="))
      .flatMap((line) => line.split(" ").slice(0, -1));
    assert.ok(copied.length > 10, String(copied));
    for (const path of copied) {
      assert.ok(existsSync(join(ROOT, path)), path);
      assert.ok(ignored.includes(`!${path.split("/")[0]}`), path);
    }
    for (const folder of manifest.workspaces) assert.ok(copied.includes(`${folder}/package.json`), folder);
  });

  it("runs scripts and workspaces that are there, and installs the file that is packed", () => {
    const told = after("RUN").join(" && ");
    for (const [, script = ""] of told.matchAll(/\bnode (scripts\S+)/g))
      assert.ok(existsSync(join(ROOT, script)), script);
    for (const [, folder = ""] of told.matchAll(/--workspace=(\S+)/g)) {
      assert.ok(manifest.workspaces.includes(folder), folder);
      const { scripts } = JSON.parse(read(`${folder}/package.json`)) as { scripts: Record<string, string> };
      assert.ok(scripts["build"], folder);
    }
    const { name } = /name: "@(?<name>[^"]+)"/.exec(read("scripts/server-package.mjs"))?.groups ?? {};
    const tarball = `${name?.replace("/", "-")}-*.tgz`;
    assert.ok(told.includes("node scripts/pack.mjs /packages"));
    assert.ok(all.includes(`COPY --from=package /packages/${tarball} /tmp/`), tarball);
    assert.match(told, new RegExp(`npm install --global [^&]*/tmp/${tarball.replace("*", "\\*")} `));
  });

  it("starts a command of the package, with settings that there are", () => {
    assert.deepEqual(after("ENTRYPOINT"), ['["node", "--max-semi-space-size=8", "/usr/local/bin/parley"]']);
    assert.match(read("scripts/server-package.mjs"), /bin: \{ parley: /);
    const [command] = JSON.parse(after("CMD").at(-1) ?? "[]") as string[];
    assert.ok(COMMANDS.has(command ?? ""), command);
    const example = read("parley.example.yaml");
    const settings = all.join("\n").matchAll(/PARLEY_([A-Z_]+)=/g);
    const names = [...settings].map(([, setting = ""]) => setting.toLowerCase());
    assert.deepEqual(names, ["host", "data_dir"]);
    for (const setting of names) assert.match(example, new RegExp(`^#? ?${setting}:`, "m"));
  });

  it("looks after its health with a program that Node can read, at an address that the server has", () => {
    const [check = ""] = after("HEALTHCHECK");
    const [program, flag, code = ""] = JSON.parse(check.slice(check.indexOf("CMD ") + 4)) as string[];
    assert.deepEqual([program, flag], ["node", "-e"]);
    assert.doesNotThrow(() => new Script(code));
    assert.match(code, /3415\}\/healthz/);
  });

  it("is what compose.yaml builds, with the folders that it mounts", () => {
    const { services, volumes } = parse(read("compose.yaml")) as {
      services: Record<string, { build?: string; volumes: string[]; depends_on?: object }>;
      volumes: Record<string, null>;
    };
    assert.equal(services["parley"]?.build, ".");
    assert.deepEqual(services["parley"].volumes, ["data:/data"]);
    assert.deepEqual(after("VOLUME"), ["/data"]);
    for (const { volumes: mounted } of Object.values(services)) {
      for (const one of mounted) assert.ok((one.split(":")[0] ?? "") in volumes, one);
    }
    for (const name of Object.keys(services["parley"].depends_on ?? {})) assert.ok(name in services, name);
  });
});
