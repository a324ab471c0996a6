import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { COMMANDS } from "../../src/cli/commands.ts";
import { loadConfig } from "../../src/config/config.ts";
import { ROOMY } from "../support/contract.ts";
import { NOT_RUN, reasonFor } from "../support/blocks-not-run.ts";
import { type Block, blocksOf, commandsIn, DOCUMENTS, ROOT_FOLDER, textOf } from "../support/documents.ts";
import { OPERATOR } from "../support/identities.ts";
import { itWith, programOf } from "../support/parts.ts";
import { HOOK_PROGRAM, MAIN, newFolder, parley, post, type Run, serve, stop } from "../support/program.ts";

const run = promisify(execFile);
const USUAL_URL = "http://127.0.0.1:3415";
const LONGEST_MS = 90_000;
const itWithCurl = await itWith("curl");
const itWithPython = await itWith("Python 3");

/** test/project/tutorials.large.test.ts walks through the tutorials, each from its first block to its last. */
const blocks = DOCUMENTS.filter((file) => !file.startsWith("docs/tutorials/")).flatMap(blocksOf);
const inLanguage = (language: string) => blocks.filter((block) => block.language === language && !reasonFor(block));
const placeOf = ({ file, line }: Block) => `${file}:${line}`;

/** Answers whatever is asked, as a crowd would, but for what is left for a block to answer or to cancel. */
function openCrowd(url: string): { left: Set<string>; close(): Promise<void> } {
  const left = new Set<string>();
  let isOpen = true;
  const work = (async () => {
    while (isOpen) {
      const feed = await fetch(`${url}/human/questions?limit=50`);
      const { questions } = (await feed.json()) as {
        questions: { question_id: string; options?: string[]; responses_needed: number }[];
      };
      for (const { question_id, options, responses_needed: needed } of questions) {
        if (left.has(question_id)) continue;
        const said = options ? { selected_option: 0 } : { answer: "Raise, and say which argument was wrong." };
        for (let i = 0; i < needed; i += 1) {
          const answer = { question_id, confidence: 4, ...said };
          await post(url, "/human/responses", answer, { "x-fingerprint": `${question_id}-${i}` });
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    left,
    close() {
      isOpen = false;
      return work;
    },
  };
}

/**
 * Approves, as the operator, the calls of the agent with that key, and of one without key or name, that need approval.
 */
function openOffice(url: string, key: string, agentKey: string): { close(): Promise<void> } {
  const calls = `${url}/a2h/v1alpha1/agent/function_calls`;
  let isOpen = true;
  const work = (async () => {
    while (isOpen) {
      for (const headers of [undefined, { authorization: `Bearer ${agentKey}` }]) {
        const pending = await fetch(`${calls}/pending`, headers && { headers });
        const { items } = (await pending.json()) as { items: { call_id: string }[] };
        for (const { call_id: id } of items) {
          await post(calls, `/${id}/respond`, { approved: true }, { authorization: `Bearer ${key}` });
        }
        await chooseApprove(`${url}/a2h/v1alpha1/agent/human_contacts`, key, headers);
      }
      await approvePlans(`${url}/people/me/asks`, key);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    close() {
      isOpen = false;
      return work;
    },
  };
}

/** Approves the plans that wait in the inbox of the operator, where alone a plan is decided. */
async function approvePlans(asks: string, key: string): Promise<void> {
  const shown = { headers: { authorization: `Bearer ${key}` } };
  const list = (await (await fetch(asks, shown)).json()) as { asks: { id: string; fn: string | null }[] };
  for (const { id } of list.asks.filter(({ fn }) => fn === "plan")) {
    const { digest } = (await (await fetch(`${asks}/${id}`, shown)).json()) as { digest: string };
    await post(asks, `/${id}/decision`, { approved: true, digest }, shown.headers);
  }
}

/** Answers a question with an option Approve by that option, and leaves every other to the blocks. */
async function chooseApprove(contacts: string, key: string, headers?: Record<string, string>): Promise<void> {
  const pending = await fetch(`${contacts}/pending`, headers && { headers });
  const { items } = (await pending.json()) as {
    items: { call_id: string; spec: { response_options?: { name: string; title?: string }[] } }[];
  };
  for (const { call_id: id, spec } of items) {
    const option = spec.response_options?.find(({ title }) => title === "Approve");
    const said = option && { response: "", response_option_name: option.name };
    if (said) await post(contacts, `/${id}/respond`, said, { authorization: `Bearer ${key}` });
  }
}

describe("what the documents show", () => {
  const folder = newFolder();
  const dataDir = join(folder, "data");
  const bin = join(folder, "bin");
  let server: Run & { url: string };
  let crowd: ReturnType<typeof openCrowd>;
  let office: ReturnType<typeof openOffice>;
  let key = "";

  before(async () => {
    mkdirSync(bin, { recursive: true });
    const programs = {
      parley: `exec "${process.execPath}" "${MAIN}" "$@"`,
      npx: `[ "$1" = parley ] || { echo "npx: only parley is known here" >&2; exit 1; }; exec "$@"`,
      // A refusal is a mistake of the document, which curl alone would show and pass over.
      curl: `exec "${programOf("curl")}" --fail-with-body "$@"`,
    };
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    symlinkSync(join(ROOT_FOLDER, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    mkdirSync(dataDir, { mode: 0o700 });
    // A repository that nobody works on.
    writeFileSync(join(dataDir, "parley.yaml"), "repos: [{ name: shop, worker: true }]\n");
    server = await serve(dataDir, ROOMY);
    crowd = openCrowd(server.url);
    const keyOf = async (...words: string[]) =>
      (await parley(["keys", "create", ...words], { PARLEY_DATA_DIR: dataDir })).out.trim();
    key = await keyOf("documents", "--scope", "agent");
    office = openOffice(server.url, await keyOf("office", "--scope", "answer", "--person", OPERATOR), key);
  });
  after(async () => {
    await Promise.all([crowd.close(), office.close()]);
    await stop(server);
  });

  /** Puts this server's address, and things that are there, in the place of those the reader has to know. */
  async function asTried({ text }: Block): Promise<string> {
    const store = { PARLEY_DATA_DIR: dataDir };
    let tried = text.replaceAll(USUAL_URL, server.url);
    if (tried.includes("QUESTION_ID")) {
      const question = { prompt: "Which label is clearer?", type: "multiple_choice", options: ["Send", "Submit"] };
      const reply = await post(server.url, "/agent/questions", { ...question, min_responses: 3 });
      const { question_id: id } = (await reply.json()) as { question_id: string };
      if (/parley (answer|cancel)/.test(tried)) crowd.left.add(id);
      tried = tried.replaceAll("QUESTION_ID", id);
    }
    if (tried.includes("PERSON_ID")) {
      tried = tried.replaceAll("PERSON_ID", (await parley(["people", "add", "Ana Ruiz"], store)).out.trim());
    }
    if (tried.includes("KEY_ID")) {
      const made = await parley(["keys", "create", "spare", "--scope", "agent"], store);
      tried = tried.replaceAll("KEY_ID", /^key_\w+/.exec(made.err)?.[0] ?? "");
    }
    return tried;
  }

  const tryOut = (program: string, args: string[], text: string) =>
    run(program, args, {
      cwd: folder,
      timeout: LONGEST_MS,
      env: {
        PATH: `${bin}:${dirname(process.execPath)}:${process.env["PATH"]}`,
        HOME: folder,
        PARLEY_URL: server.url,
        PARLEY_DATA_DIR: dataDir,
        PYTHONPATH: join(ROOT_FOLDER, "sdk-python/src"),
        PYTHONDONTWRITEBYTECODE: "1",
        // A client on the server's own computer needs no key, as the documents say.
        ...(text.includes("PARLEY_KEY") && { PARLEY_KEY: key }),
      },
    });

  for (const block of inLanguage("sh")) {
    const itHere = block.text.includes("curl") ? itWithCurl : it;
    itHere(`${placeOf(block)} does what a shell is told`, async () => {
      const text = await asTried(block);
      const trying = tryOut("bash", ["--norc", "-euo", "pipefail", "-c", text], text);
      trying.child.stdin?.end();
      await trying;
    });
  }

  for (const block of inLanguage("python")) {
    itWithPython(`${placeOf(block)} runs`, async () => {
      const text = await asTried(block);
      await tryOut("python3", ["-c", text], text);
    });
  }

  const typescript = inLanguage("ts").map((block, i) => ({ block, name: `block-${i}.ts` }));
  it("TypeScript is well typed", async () => {
    for (const { block, name } of typescript) writeFileSync(join(folder, name), await asTried(block));
    const options = { noEmit: true, noUnusedLocals: false, typeRoots: [join(ROOT_FOLDER, "node_modules/@types")] };
    const config = {
      extends: join(ROOT_FOLDER, "tsconfig.json"),
      compilerOptions: options,
      include: [],
      files: namesOf(typescript),
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const compiler = join(ROOT_FOLDER, "node_modules/typescript/bin/tsc");
    const { stdout } = await run(process.execPath, [compiler, "-p", folder]).catch(
      (error: { stdout: string }) => error,
    );
    assert.equal(stdout, "", typescript.map(({ block, name }) => `${name}: ${placeOf(block)}`).join("\n"));
  });
  for (const { block, name } of typescript) {
    it(`${placeOf(block)} runs`, async () => {
      writeFileSync(join(folder, name), await asTried(block));
      await tryOut(process.execPath, [name], block.text);
    });
  }

  for (const block of inLanguage("json")) {
    it(`${placeOf(block)} is JSON`, () => {
      assert.ok(JSON.parse(block.text));
    });
  }

  for (const block of inLanguage("yaml")) {
    // test/cli/roles-cli.small.test.ts has the catalogue take the role that is shown.
    if (block.file === "docs/how-to/roles.md") continue;
    const isPolicy = block.file === "docs/how-to/policy.md" || block.text.startsWith("version: 1");
    const command = isPolicy ? ["policy", "lint"] : undefined;
    it(`${placeOf(block)} is taken by ${command ? `parley ${command.join(" ")}` : "the server as its settings"}`, async () => {
      const place = newFolder();
      mkdirSync(place, { recursive: true });
      const file = join(place, command ? "policy.yaml" : "parley.yaml");
      writeFileSync(file, block.text);
      if (!command) return void loadConfig({ env: { HOME: place, PARLEY_DATA_DIR: place } });
      const { code, err } = await parley([...command, file]);
      assert.equal(code, 0, err);
    });
  }

  it("shows the hooks that parley hook install writes", async () => {
    const shown = blocksOf("docs/how-to/claude-code.md").filter(({ language }) => language === "json");
    const [byHttp, byCommand] = shown.map(({ text }) => JSON.parse(text) as Record<string, unknown>);
    const written = async (type: string): Promise<{ hooks: unknown[] }[]> => {
      const home = newFolder();
      assert.equal((await parley(["hook", "install", "claude", "--type", type], { HOME: home })).code, 0);
      const settings = readFileSync(join(home, ".claude/settings.json"), "utf8").replace(
        `${process.execPath} ${HOOK_PROGRAM}`,
        "/path/to/node /path/to/parley/bin/hook/parley.cjs",
      );
      return (
        (JSON.parse(settings) as { hooks: Record<string, { hooks: unknown[] }[]> }).hooks["PermissionRequest"] ?? []
      );
    };
    assert.deepEqual(byHttp, { hooks: { PermissionRequest: await written("http") } });
    assert.deepEqual(byCommand, (await written("command"))[0]?.hooks[0]);
  });

  it("is all tried, or it is said why not", (test) => {
    for (const { file, begins, because } of NOT_RUN) {
      const isThere = blocks.some((block) => block.file === file && block.text.startsWith(begins));
      assert.ok(isThere, `${file} has no block that begins with "${begins}"`);
      test.diagnostic(`not run: ${file}, "${begins} ...": ${because}`);
    }
    const tried = ["sh", "python", "ts", "json", "yaml"];
    const untried = blocks.filter((block) => !tried.includes(block.language) && !reasonFor(block));
    assert.deepEqual(
      untried.map((block) => `${placeOf(block)} (${block.language})`),
      [],
    );
    for (const language of ["sh", "python", "ts"]) assert.ok(inLanguage(language).length > 0, language);
  });

  it("shows the examples of the adapters as the tests run them", () => {
    const shown = blocksOf("docs/how-to/frameworks.md").map(({ text }) => text);
    const examples = globSync(["adapters/examples/*.ts", "test/agents/*-example.ts"], { cwd: ROOT_FOLDER });
    assert.ok(examples.length >= 5);
    for (const example of examples) assert.ok(shown.includes(textOf(example)), example);
  });

  it("names only commands that there are", () => {
    const known = [...COMMANDS.keys(), "help"];
    const isKnown = (named: string) => {
      const [first = ""] = named.split(" ");
      return (
        known.includes(named) ||
        known.includes(first) ||
        (named === first && known.some((name) => name.startsWith(`${first} `)))
      );
    };
    for (const file of DOCUMENTS) {
      assert.deepEqual(
        commandsIn(file).filter((named) => !isKnown(named)),
        [],
        file,
      );
    }
  });

  it("shows pictures that there are", () => {
    const pictures = DOCUMENTS.flatMap((file) =>
      [...textOf(file).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path = ""]) => join(dirname(file), path)),
    );
    assert.ok(pictures.length >= 3);
    assert.deepEqual(
      pictures.filter((path) => !existsSync(join(ROOT_FOLDER, path))),
      [],
    );
  });
});

const namesOf = (files: readonly { name: string }[]) => files.map(({ name }) => name);
