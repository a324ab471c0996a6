import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { greetingsIn } from "../support/log-lines.ts";
import { itWith } from "../support/parts.ts";
import { reservePort } from "../support/ports.ts";
import { endServerOf, environment, MAIN, newFolder, until } from "../support/program.ts";

const UNITS = join(import.meta.dirname, "../../deploy/systemd");
const NAMES = ["parley.service", "parley.socket", "parley.service.d/coding-agents.conf"] as const;
const itWithSystemd = await itWith("systemd");
const read = (name: string) => readFileSync(join(UNITS, name), "utf8");

/** The units as they would stand on this machine, with this checkout in the place of the package. */
function unitsHere(names: readonly string[] = NAMES): string {
  const folder = newFolder();
  mkdirSync(join(folder, "parley.service.d"), { recursive: true });
  for (const name of names)
    writeFileSync(
      join(folder, name),
      read(name).replace(/^ExecStart=\S+ (\S+) \S+/m, `ExecStart=${process.execPath} $1 ${MAIN}`),
    );
  return folder;
}

function analyze(...args: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
  return { status, said: `${stdout}${stderr}` };
}

describe("the units of systemd", () => {
  itWithSystemd("hold no word that systemd does not know", () => {
    const folder = unitsHere();
    const units = ["parley.service", "parley.socket"].map((name) => join(folder, name));
    assert.deepEqual(analyze("verify", ...units), { status: 0, said: "" });
    writeFileSync(join(folder, "parley.service"), `${read("parley.service")}\nProtectSytem=yes\n`);
    assert.match(analyze("verify", ...units).said, /Unknown key.* 'ProtectSytem'/);
  });

  itWithSystemd("leave the server little that it could do to the machine, as systemd judges it", () => {
    const folder = unitsHere(["parley.service", "parley.socket"]);
    // The exposure out of 100, as in systemd-analyze(1). A service without any such setting has 96.
    const judged = analyze("security", "--offline=true", "--threshold=20", join(folder, "parley.service"));
    assert.equal(judged.status, 0, judged.said);
  });

  it("start a program of the package, with a data directory that is systemd's to make", () => {
    const service = read("parley.service");
    const [, program = "", command] =
      /^ExecStart=\/usr\/bin\/node --max-semi-space-size=8 \S+\/(@parley\/parley\/\S+) (\w+)$/m.exec(service) ?? [];
    assert.equal(command, "serve");
    assert.match(
      readFileSync(join(UNITS, "../../scripts/server-package.mjs"), "utf8"),
      new RegExp(program.replace("@parley/parley/", "")),
    );
    const [, state] = /^StateDirectory=(\S+)$/m.exec(service) ?? [];
    assert.equal(/^Environment=PARLEY_DATA_DIR=(\S+)$/m.exec(service)?.[1], `/var/lib/${state}`);
  });
});

describe("a server that is started by its socket", () => {
  const dataDir = newFolder();
  after(() => endServerOf(dataDir));

  itWithSystemd("serves whoever connected before it ran, at each address", async () => {
    const port = await reservePort();
    const addresses = [...read("parley.socket").matchAll(/^ListenStream=(\S+):3415$/gm)].map(
      ([, host]) => `${host}:${port}`,
    );
    assert.deepEqual(addresses, [`127.0.0.1:${port}`, `[::1]:${port}`]);
    const env = environment({ PARLEY_DATA_DIR: dataDir });
    const passed = Object.keys(env).filter((name) => env[name as keyof typeof env] !== undefined);
    const activate = spawn(
      "systemd-socket-activate",
      [
        ...addresses.flatMap((address) => ["-l", address]),
        ...passed.flatMap((name) => ["-E", name]),
        process.execPath,
        MAIN,
        "serve",
      ],
      { env },
    );
    const ended = once(activate, "close");
    let [out, err] = ["", ""];
    activate.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    activate.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    await until(() => err.includes(`Listening on [::1]:${port}`), "the socket");

    const replies = await Promise.all(addresses.map((address) => fetch(`http://${address}/readyz`)));
    for (const reply of replies) assert.deepEqual([reply.status, await reply.text()], [200, "ready"], err);
    assert.equal(greetingsIn(out)[0]?.msg, "Parley listens: open to this computer only");
    // It has become the server itself, as with exec.
    activate.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null], err);
  });
});
