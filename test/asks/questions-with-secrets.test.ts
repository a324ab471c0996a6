import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pino } from "pino";
import { loadConfig } from "../../src/config/config.ts";
import type { NormalizedQuestion } from "../../src/protocols/http/new-question.ts";
import { flagSecrets } from "../../src/protocols/http/secrets.ts";
import { startServer } from "../../src/server/server.ts";
import { findQuestion } from "../../src/questions/store/questions.ts";
import { sharedWorld } from "../support/contract.ts";
import { tool } from "../support/mcp.ts";
import { Dice } from "../support/secret-corpus.ts";
import { call } from "../support/world.ts";

const dice = new Dice(7);
const awsKey = ["AK", "IA", dice.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)].join("");
const githubToken = ["gh", "p_", dice.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 36)].join("");
const HOLDING = {
  prompt: `Is ${awsKey} still in use?`,
  type: "multiple_choice",
  options: ["No", `Yes, ${githubToken}`],
};
const FOUND = [
  { field: "prompt", constraint: "secret", rule: "aws-access-key", from: 3, to: 23 },
  { field: "options[1]", constraint: "secret", rule: "github-token", from: 5, to: 45 },
];
/** Takes longer than a search may. */
const SLOW: NormalizedQuestion = {
  type: "text",
  prompt: "ghs_1_".repeat(1_000_000),
  audience: [],
  min_responses: 1,
  timeout_seconds: 60,
};

function filesUnder(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}

describe("a question with a secret, while strangers may answer", () => {
  const world = sharedWorld({ on: "sqlite", env: { PARLEY_CROWD_PUBLIC: "true" } });

  it("is refused with the rule and the place of each, and the secret is nowhere afterwards", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-secrets-"));
    const lines: string[] = [];
    const config = loadConfig({
      env: { HOME: folder, PARLEY_DATA_DIR: folder, PARLEY_PORT: "0", PARLEY_CROWD_PUBLIC: "true" },
    });
    const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    const server = await startServer(config, { log });
    const body = { ...HOLDING, idempotency_key: "one" };
    const headers = { "x-agent-id": "ana" };
    const refused = await call(`${server.url}/agent/questions`, "POST", { body, headers });
    assert.equal(refused.status, 400);
    const message = "prompt holds a secret (aws-access-key, characters 3 to 23), and strangers would see it";
    const { error } = refused.body;
    assert.deepEqual(error, { code: "VALIDATION_ERROR", message, details: { ...FOUND[0], errors: FOUND } });

    const mended = { ...body, prompt: "Is secret://aws/deploy still in use?", options: ["No", "Yes"] };
    const accepted = await call(`${server.url}/agent/questions`, "POST", { body: mended, headers });
    assert.equal(accepted.status, 201);
    assert.equal(accepted.headers.get("x-ratelimit-remaining"), "59");
    await server.stop();

    const stored = filesUnder(folder).map((path) => readFileSync(path, "latin1"));
    assert.ok(stored.some((bytes) => bytes.includes(mended.prompt)));
    for (const secret of [awsKey, githubToken]) {
      assert.ok(![refused.text, ...lines, ...stored].some((text) => text.includes(secret)));
    }
    rmSync(folder, { recursive: true });
  });

  it("is refused by the tool in its own words", async () => {
    const result = await tool(world(), "ask_human", { question: HOLDING.prompt });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /question holds a secret \(aws-access-key, characters 3 to 23\)/);
    assert.ok(!JSON.stringify(result).includes(awsKey));
  });

  it("is refused when the search took too long", async () => {
    await assert.rejects(flagSecrets({ ctx: world().server.ctx, config: world().config }, SLOW, "prompt"), {
      code: "invalid_input",
      details: { field: "prompt", constraint: "secret", rule: "not-searched" },
    });
  });
});

describe("a question with a secret, among a team", () => {
  const world = sharedWorld({ on: "sqlite" });

  it("is asked as it is, and its ask keeps where they stand", async () => {
    const agent = world().agent("ana");
    const { id } = await agent.ask({ ...HOLDING, share_results: false });
    const { body } = await agent.poll(id);
    assert.deepEqual([body.prompt, body.options], [HOLDING.prompt, HOLDING.options]);
    const found = await findQuestion(world().server.ctx.db, id);
    const secrets = FOUND.map(({ constraint: _, ...flag }) => flag);
    assert.deepEqual(found?.question.wire, { share_results: false, secrets });
  });

  it("is asked without a word when the search took too long", async () => {
    assert.deepEqual(await flagSecrets({ ctx: world().server.ctx, config: world().config }, SLOW, "prompt"), {});
  });

  it("keeps nothing when there is nothing", async () => {
    const { id } = await world().agent("ana").ask({ prompt: "What should a password policy say today?" });
    assert.deepEqual((await findQuestion(world().server.ctx.db, id))?.question.wire, {});
  });
});
