import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const QUESTION = "src/wire/question.ts";
const FIELD = "  current_responses: z.int(),\n";

/** Names a member of a type in each place that has the type. */
const USES: Readonly<Record<string, string>> = {
  "src/protocols/use-of-member.ts": `import type { WireQuestion } from "../wire/question.ts";
export const mood: WireQuestion["mood"] = "calm";\n`,
  "sdk/src/use-of-member.ts": `import type { Question } from "./wire.ts";
export const mood: Question["mood"] = "calm";\n`,
  "web/src/use-of-member.ts": `import type { Question } from "@parley/sdk/wire";
export const mood: Question["mood"] = "calm";\n`,
};

describe("the schema of a question, in a copy of the sources", () => {
  const copy = mkdtempSync(join(tmpdir(), "parley-wire-"));
  after(() => rmSync(copy, { recursive: true, force: true }));

  before(() => {
    for (const name of [
      "src",
      "sdk/src",
      "sdk/package.json",
      "web/src",
      "web/tsconfig.json",
      "scripts",
      "tsconfig.json",
    ]) {
      cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    }
    writeFileSync(join(copy, "package.json"), JSON.stringify({ type: "module" }));
    const modules = join(copy, "node_modules");
    mkdirSync(join(modules, "@parley"), { recursive: true });
    for (const name of readdirSync(join(ROOT, "node_modules"))) {
      if (name !== "@parley") symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
    }
    symlinkSync("../../sdk", join(modules, "@parley/sdk"));
  });

  const change = (from: string, to: string): void => {
    const schemas = readFileSync(join(ROOT, QUESTION), "utf8");
    assert.ok(schemas.includes(from));
    writeFileSync(join(copy, QUESTION), schemas.replaceAll(from, to));
  };

  /** Returns the files in which the compiler finds something wrong. */
  async function broken(): Promise<Set<string>> {
    const projects = [
      ["-p", "tsconfig.all.json"],
      ["-p", "web"],
    ];
    writeFileSync(
      join(copy, "tsconfig.all.json"),
      JSON.stringify({ extends: "./tsconfig.json", include: ["src", "sdk/src"] }),
    );
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const said: string[] = [];
    for (const project of projects) {
      await run(process.execPath, [tsc, "--noEmit", ...project], { cwd: copy }).catch((error: { stdout: string }) =>
        said.push(error.stdout),
      );
    }
    return new Set(
      [...said.join("\n").matchAll(/^(?:\.\.\/)*([\w./-]+)\(\d+,\d+\): error/gm)].map(([, file = ""]) => file),
    );
  }

  it("gives a new member to replies, to the document, to the SDK and to the web app", async () => {
    change(FIELD, `${FIELD}  mood: z.literal("calm").optional(),\n`);
    for (const [file, text] of Object.entries(USES)) writeFileSync(join(copy, file), text);
    assert.deepEqual([...(await broken())], []);
    const show = `
      import { namedJsonSchemas } from "./src/wire/json-schema.ts";
      import { wireTypes } from "./scripts/wire-types.mjs";
      const text = await wireTypes(["Question"]);
      console.log(JSON.stringify([namedJsonSchemas().Question.properties.mood, /mood\\?: "calm"/.test(text)]));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", show], { cwd: copy });
    assert.deepEqual(JSON.parse(stdout), [{ type: "string", const: "calm" }, true]);
  });

  it("breaks the build of each place that used a member which is gone", async () => {
    for (const file of Object.keys(USES)) rmSync(join(copy, file), { force: true });
    change(FIELD, "");
    const files = await broken();
    for (const file of [
      "src/protocols/http/question.ts",
      "src/cli/ask/question-lines.ts",
      "sdk/src/wait.ts",
      "web/src/answer/result.tsx",
    ]) {
      assert.ok(
        [...files].some((one) => file.endsWith(one) || one === file),
        `${file} was built: ${[...files].join(" ")}`,
      );
    }
  });
});
