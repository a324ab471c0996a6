import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createKey } from "../../src/access/create-key.ts";
import { itWith } from "../support/parts.ts";
import { newFolder } from "../support/program.ts";
import { openWorld, type World } from "../support/world.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Nobody answers there. */
const NOWHERE = "http://127.0.0.1:9";

type Variables = Readonly<Record<string, string>>;

const itWithPython = await itWith("Python 3");

describe("the environment variables of A2H", () => {
  let world: World;
  let key = "";
  before(async () => {
    world = await openWorld({ on: "sqlite", running: true });
    key = (await createKey(world.server.ctx, { name: "a2h-bot", scope: "agent" })).text;
  });
  after(() => world[Symbol.asyncDispose]());

  const clean = () => {
    const env = { ...process.env, HOME: newFolder() };
    return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(PARLEY|A2H)_/.test(name)));
  };
  const started = (program: string, args: readonly string[], env: Variables) =>
    run(program, args, { cwd: ROOT, env: { ...clean(), ...env } as NodeJS.ProcessEnv });
  const prompt = (client: string, n: number) => `Which label is clearer, to ${client} for time ${n}?`;

  /** Every client of ours that asks as an agent, and how it asks. */
  const clients: Readonly<Record<string, (prompt: string, env: Variables, url?: string) => Promise<unknown>>> = {
    "the command": (words, env, url) => {
      const flags = url === undefined ? [] : ["--url", url];
      return started(process.execPath, ["src/main.ts", "ask", words, ...flags], env);
    },
    "the TypeScript SDK": (words, env, url) => {
      const options = JSON.stringify({ url });
      const program = `import { Parley } from "@parley/sdk";
        await new Parley(${options}).ask({ prompt: ${JSON.stringify(words)} });`;
      return started(process.execPath, ["--input-type=module", "--eval", program], env);
    },
    "the Python package": (words, env, url) => {
      const options = url === undefined ? "" : JSON.stringify(url);
      const program = `from parley import Parley; Parley(${options}).ask(${JSON.stringify(words)})`;
      return started("python3", ["-c", program], {
        ...env,
        PYTHONPATH: "sdk-python/src",
        PYTHONDONTWRITEBYTECODE: "1",
      });
    },
  };
  const asked = async (headers: Variables, words: string) => {
    const { body } = await world.call("GET", "/agent/questions?limit=100", { headers });
    return body.questions.some(({ prompt }: { prompt: string }) => prompt === words);
  };

  for (const [name, ask] of Object.entries(clients)) {
    const itRuns = name.includes("Python") ? itWithPython : it;
    itRuns(`say to ${name} where the server is, and as whom to ask`, async () => {
      const bearer = { authorization: `Bearer ${key}` };
      for (const [n, path] of ["", "/", "/a2h/v1alpha1", "/humanlayer/v1/"].entries()) {
        await ask(prompt(name, n), { A2H_BASE_URL: `${world.url}${path}`, A2H_API_KEY: key });
        assert.ok(await asked(bearer, prompt(name, n)), path);
      }
    });

    itRuns(`are passed over by ${name} where Parley's own say something`, async () => {
      const words = prompt(name, 10);
      await ask(words, { PARLEY_URL: world.url, A2H_BASE_URL: NOWHERE, A2H_API_KEY: key });
      assert.ok(await asked({}, words), "asked without the key, which is not for this server");
      const bearer = { authorization: `Bearer ${key}` };
      const both = { PARLEY_URL: world.url, PARLEY_KEY: key, A2H_BASE_URL: NOWHERE, A2H_API_KEY: "parley_agent_other" };
      await ask(prompt(name, 11), both);
      assert.ok(await asked(bearer, prompt(name, 11)));
    });

    itRuns(`send no key by ${name} to a server that something else names`, async () => {
      const words = prompt(name, 20);
      await ask(words, { A2H_BASE_URL: NOWHERE, A2H_API_KEY: key }, world.url);
      assert.ok(await asked({}, words), "asked without the key, which is for the server at the other address");
    });
  }

  for (const name of ["the TypeScript SDK", "the Python package"]) {
    const itRuns = name.includes("Python") ? itWithPython : it;
    const ask = clients[name] ?? assert.fail(name);

    itRuns(
      `and Parley's own have ${name} send a key to the server that they name, however a program names it`,
      async () => {
        const bearer = { authorization: `Bearer ${key}` };
        const pairs: Variables[] = [
          { PARLEY_URL: `${world.url}/`, PARLEY_KEY: key },
          { A2H_BASE_URL: `${world.url}/a2h/v1alpha1`, A2H_API_KEY: key },
        ];
        for (const [n, env] of pairs.entries()) {
          const words = prompt(name, 30 + n);
          await ask(words, env, n === 0 ? world.url : `${world.url}/`);
          assert.ok(await asked(bearer, words), JSON.stringify(env));
        }
      },
    );

    itRuns(`and Parley's own have ${name} send no key to a server that only a program names`, async () => {
      const named: Variables[] = [
        { PARLEY_URL: NOWHERE },
        {},
        { PARLEY_URL: `${world.url}/elsewhere` },
        { PARLEY_URL: "no address" },
      ];
      for (const [n, env] of named.entries()) {
        const words = prompt(name, 40 + n);
        await ask(words, { ...env, PARLEY_KEY: key }, world.url);
        assert.ok(await asked({}, words), JSON.stringify(env));
      }
    });
  }

  it("send an approval to a named person from the terminal", async () => {
    const env = { A2H_BASE_URL: world.url, A2H_API_KEY: key };
    await started(process.execPath, ["src/main.ts", "ask", "Which day suits you?", "--to", "operator"], env);
    const headers = { authorization: `Bearer ${key}` };
    const { body } = await world.call("GET", "/a2h/v1alpha1/agent/human_contacts/pending", { headers });
    assert.deepEqual(
      body.items.map(({ spec }: { spec: { msg: string } }) => spec.msg),
      ["Which day suits you?"],
    );
  });
});
