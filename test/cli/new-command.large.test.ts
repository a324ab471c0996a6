import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { newFolder } from "../support/program.ts";

const run = promisify(execFile);
const TREE = join(import.meta.dirname, "../..");

const COMMAND = `import { command, EXIT, JSON_FLAG } from "./command.ts";

export const hello = command({
  takes: { NAME: "whom to greet", "--tone TONE": { help: "how", choices: ["warm", "cool"], default: "warm" }, ...JSON_FLAG },
  example: "parley hello Ana",
  run: ({ name, tone, json }, io) => {
    io.out(json ? JSON.stringify({ name, tone }) : \`Hello \${name}, \${tone}\`);
    return Promise.resolve(EXIT.done);
  },
});
`;
const LINE = `    ...from(() => import("./hello.ts"), { hello: "greet somebody" }),\n`;

describe("a command", () => {
  it("is one file and one line in the list: usage, help, completion, parsing and the page follow", async () => {
    const copy = newFolder();
    mkdirSync(join(copy, "docs/reference"), { recursive: true });
    for (const folder of ["src", "scripts"]) cpSync(join(TREE, folder), join(copy, folder), { recursive: true });
    for (const name of ["package.json", "node_modules", "sdk", "prompts"])
      symlinkSync(join(TREE, name), join(copy, name));
    cpSync(join(TREE, "docs/reference/commands.md"), join(copy, "docs/reference/commands.md"));
    const list = join(copy, "src/cli/commands.ts");
    const first = `  "Run the server": {\n`;
    const commands = readFileSync(list, "utf8");
    assert.ok(commands.includes(first));
    writeFileSync(list, commands.replace(first, first + LINE));
    writeFileSync(join(copy, "src/cli/hello.ts"), COMMAND);

    const parley = (...argv: string[]) => run(process.execPath, [join(copy, "src/main.ts"), ...argv]);
    assert.equal((await parley("hello", "Ana", "--tone", "cool", "--json")).stdout, '{"name":"Ana","tone":"cool"}\n');
    await assert.rejects(parley("hello", "Ana", "--tone", "loud"), { code: 2, stderr: /--tone .*warm/ });
    const help = (await parley("help", "hello")).stdout;
    assert.match(help, /parley hello NAME \[--tone TONE\] \[--json\]/);
    assert.match(help, /--tone TONE +how; left out, warm/);
    assert.match((await parley("completion", "bash", "--", "hel")).stdout, /^hello\b/m);
    assert.match((await parley("completion", "bash", "--", "hello", "Ana", "--tone", "")).stdout, /^warm\ncool\n/);
    await run(process.execPath, [join(copy, "scripts/commands-page.mjs")]);
    assert.match(readFileSync(join(copy, "docs/reference/commands.md"), "utf8"), /Greet somebody\./);
  });
});
