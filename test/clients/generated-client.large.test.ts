import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClient } from "@hey-api/openapi-ts";
import { openScene, type Scene } from "../support/a2h.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

/** Asks, approves as the person who was asked, and polls, with the functions that were generated. */
const PROGRAM = `import { createFunctionCall, listHumans, readFunctionCall, respondToFunctionCall } from "./client/sdk.gen.js";
import { client } from "./client/client.gen.js";

const [url = "", agent = "", person = ""] = process.argv.slice(2);
client.setConfig({ baseUrl: url, throwOnError: true });
const asks = { headers: { authorization: "Bearer " + agent }, throwOnError: true } as const;
const answers = { headers: { authorization: "Bearer " + person }, throwOnError: true } as const;

const { data: page } = await listHumans({ ...asks });
const human = page.humans.find(({ name }) => name === "Ana Ruiz");
const { data: call } = await createFunctionCall({
  ...asks,
  body: {
    run_id: "release",
    call_id: "deploy-1",
    spec: { fn: "deploy", kwargs: { version: "1.4.2" }, channel: { human: { id: human?.id } } },
  },
});
const open: boolean | undefined = call.status.approved;
await respondToFunctionCall({
  ...answers,
  path: { id: call.call_id },
  body: { approved: true, comment: "go", consent_digest: call.status.consent_digest },
});
const { data: over } = await readFunctionCall({ ...asks, path: { id: call.call_id }, query: { wait: "25" } });
const refused = await readFunctionCall({ ...asks, path: { id: "none" }, throwOnError: false });
const code: string | undefined = (refused.error as { error?: { code: string } } | undefined)?.error?.code;
console.log(JSON.stringify({ open: open ?? null, approved: over.status.approved, by: over.status.user_info?.name, code }));
`;

/**
 * Types of the published SDK beside those of the document. Replies of the relay have every name a second time in camelCase,
 * which the SDK leaves to older clients.
 */
const WIRE = `import type * as Api from "./client/types.gen.js";
import type * as Sdk from "SDK/wire.js";
import type * as Relay from "SDK/executor/wire.js";

type Plain<T> = T extends readonly (infer E)[]
  ? Plain<E>[]
  : T extends object
    ? { -readonly [K in keyof T]: Plain<T[K]> }
    : T;
type IsAlias<K> = K extends string ? (K extends Lowercase<K> ? false : true) : false;
type Own<T> = T extends object ? { [K in keyof T as IsAlias<K> extends true ? never : K]: T[K] } : T;
type Same<A, B> = (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false;
/** What clients fill in where it is left out. */
type Filled<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

PAIRS
`;

/** Returns the two sides of types that are called the same. */
function alike(module: string, names: string): Record<string, readonly [string, string]> {
  return Object.fromEntries(names.split(" ").map((name) => [name, [`${module}.${name}`, `Api.${name}`]]));
}

/** By the name of each type: where its two sides are, if they are not called the same. */
const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  NewQuestion: ["Sdk.NewQuestion", 'Filled<Api.NewQuestion, "type">'],
  QuestionList: [
    "Filled<Sdk.QuestionPage, 'next_cursor'> & Partial<Omit<Sdk.QuestionBatch, 'questions'>>",
    "Api.QuestionList",
  ],
  PushSubscription: ["Sdk.WebPushSubscription", "Api.PushSubscription"],
  Ask: ["Relay.AnswerStatus", "Exclude<Api.Ask['status'], 'PENDING'>"],
  Audiences: ["(typeof Sdk.AUDIENCES)[number]", "Api.Question['audience'][number]"],
  Periods: ["(typeof Sdk.PERIODS)[number]", "Api.Leaderboard['period']"],
  Reasons: ["(typeof Sdk.REPORT_REASONS)[number]", "Api.NewReport['reason']"],
  AskKind: ["Relay.AskKind", "Api.Ask['ask_type']"],
  Answer: ["Relay.Answer", "Own<Api.Answer>"],
  Job: ["Relay.Job", "Own<Api.Job>"],
  JobLog: ["Relay.JobLog", 'Omit<Api.JobLog, "type">'],
  JobStatus: ["Omit<Relay.JobStatus, 'snapshot'>", "Omit<Own<Api.JobStatus>, 'snapshot'>"],
  ...alike("Relay", "Lease JobEnd Artifact"),
  ...alike("Sdk", "QuestionReceipt QuestionResponse Question FeedPage HumanQuestion NewAnswer AnswerReceipt Stats"),
  ...alike("Sdk", "QuestionResults Leaderboard NewSubscription QuietHours SubscriptionReceipt RecoveryCode SignedIn"),
  ...alike("Sdk", "ContactChannel ResponseOption Responder CallStatus FunctionCall MessageStatus Message Human"),
};

describe("a client that is generated from the document of the API", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-generated-"));
  let scene: Scene;
  before(async () => {
    scene = await openScene("sqlite");
    await run(process.execPath, [join(ROOT, "scripts/build-sdk.mjs"), join(folder, "sdk")]);
    const reply = await scene.world.call("GET", "/openapi.json");
    const file = join(folder, "openapi.json");
    writeFileSync(file, reply.text);
    await createClient({
      input: file,
      output: join(folder, "client"),
      logs: { level: "silent", file: false },
      plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
    });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await scene[Symbol.asyncDispose]();
  });

  /** Checks, and compiles, what a file of the folder says; returns what the compiler has to say. */
  async function compiled(name: string, text: string): Promise<string> {
    writeFileSync(join(folder, name), text);
    const flags = ["--strict", "--target", "es2024", "--module", "nodenext", "--skipLibCheck", "--types", "node"];
    const done = run(process.execPath, [TSC, ...flags, "--outDir", join(folder, "out"), join(folder, name)], {
      cwd: folder,
    });
    return done.then(
      () => "",
      (error: unknown) => (error as { stdout: string }).stdout,
    );
  }

  it("asks, approves and polls", async () => {
    assert.equal(await compiled("program.ts", PROGRAM), "");
    writeFileSync(join(folder, "out/package.json"), JSON.stringify({ type: "module" }));
    const { answer } = await scene.human("Ana Ruiz");
    const { stdout } = await run(process.execPath, [
      join(folder, "out/program.js"),
      scene.world.url,
      scene.agent.key,
      answer.key,
    ]);
    assert.deepEqual(JSON.parse(stdout), { open: null, approved: true, by: "Ana Ruiz", code: "not_found" });
  });

  /** Returns those types of the SDK in which a field is not as the document has it. */
  async function differing(pairs: typeof PAIRS): Promise<string[]> {
    const names = Object.entries(pairs).map(
      ([name, [sdk, api]]) => `export const ${name}: Same<${sdk}, ${api}> = true;`,
    );
    const text = WIRE.replace("PAIRS", names.join("\n")).replaceAll("SDK/", `${folder}/sdk/types/`);
    const lines = text.split("\n");
    const said = await compiled("wire.ts", text);
    const found = [...said.matchAll(/^wire\.ts\((\d+),/gm)].map(([, line]) => lines[Number(line) - 1] ?? "");
    assert.equal(said === "", found.length === 0, said);
    return found.map((line) => /^export const (\w+)/.exec(line)?.[1] ?? said);
  }

  it("has the types that the SDK has, to the field", async () => assert.deepEqual(await differing(PAIRS), []));

  it("would not have them if a field were gone, or were another's", async () => {
    const bent = {
      Gone: ["Omit<Sdk.Question, 'closed_at'>", "Api.Question"],
      Needed: ["Omit<Sdk.CallStatus, 'comment'> & { comment: string }", "Api.CallStatus"],
      Within: ["Omit<Sdk.FunctionCall, 'spec'> & { spec: Omit<Sdk.FunctionCall['spec'], 'msg'> }", "Api.FunctionCall"],
      Other: ["Omit<Sdk.Human, 'id'> & { id: number }", "Api.Human"],
    } as const;
    assert.deepEqual(await differing(bent), Object.keys(bent));
  });
});
