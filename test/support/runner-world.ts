import type { AskType } from "../../src/core/model/ask-type.ts";
import { openAskerBounds } from "../../src/requests/model/asker-bounds.ts";
import { openWaitList } from "../../src/requests/model/open-waits.ts";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pino } from "pino";
import { loadConfig } from "../../src/config/config.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { systemFetch } from "../../src/lib/network/fetch.ts";
import { openForeignSchemas } from "../../src/lib/json/foreign-schema.ts";
import { idMaker } from "../../src/lib/id.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { openSecretScan, redact } from "../../src/lib/secrets/secret-scan.ts";
import type { Job, Ask } from "../../src/asks/model/ask.ts";
import type { PolicyTrace } from "../../src/policy/model/trace.ts";
import type { RunnerDeps, RunnerEvent, ServerSettings, ToolSettings } from "../../src/responders/answer-runner/deps.ts";
import { openRunner, type Runner } from "../../src/responders/answer-runner/runner.ts";
import type { ResponderAnswer, AskOffer, ResponderPass } from "../../src/responders/responder.ts";
import { defaultRoleOf } from "../../src/responders/roles/role.ts";
import { openRoles } from "../../src/responders/roles/role-catalogue.ts";
import { SHIPPED_PROMPTS } from "../../src/responders/roles/shipped-prompts.ts";
import { openStore, type Store } from "../../src/core/store/open-store.ts";
import { acceptTool, checkPin, listToolPins } from "../../src/asks/tools/pin-tool.ts";
import { shareRun } from "../../src/asks/jobs/share-run.ts";
import { openModelBudget, type SpendingRules } from "../../src/asks/respond/spend-on-model.ts";
import { freshDatabase } from "./fresh-database.ts";
import { type Script, type ScriptedLlm, scriptedLlm } from "./scripted-llm.ts";

export interface RunnerOptions {
  on?: "sqlite" | "postgres";
  /** The replies of the model. */
  script: Script;
  model?: string;
  /** Roles beside those that come along, as YAML by file name. */
  roles?: Record<string, string>;
  servers?: Record<string, ServerSettings>;
  tools?: Record<string, Partial<ToolSettings> & Pick<ToolSettings, "server" | "tool">>;
  env?: Record<string, string>;
  spending?: SpendingRules;
  canaries?: string[];
  allowsWrites?: boolean;
  more?: Partial<RunnerDeps>;
}

export interface AskFields {
  type?: AskType;
  prompt?: string;
  allowedTools?: readonly string[];
  maxTokens?: number;
  roleId?: string;
  meta?: Record<string, unknown>;
  envelope?: Ask["envelope"];
  decisionKey?: string;
  leftMs?: number;
  options?: AskOffer["options"];
  rounds?: AskOffer["rounds"];
  signal?: AbortSignal;
}

/** An answer-runner with a store, a scripted model, and everything that it is given of its own. */
export interface RunnerWorld extends AsyncDisposable {
  runner: Runner;
  llm: ScriptedLlm;
  store: Store;
  ask(wish?: AskFields): Promise<ResponderAnswer | ResponderPass>;
  /** Asks as `ask` does; fails if the ask is passed on. */
  answer(wish?: AskFields): Promise<ResponderAnswer>;
  pass(wish?: AskFields): Promise<ResponderPass>;
  events: RunnerEvent[];
  /** The lines of the log. */
  logged: string[];
  /** The questions to policy and the calls that ran, in order. */
  happened: string[];
  artifacts: Map<string, string>;
  spent(): Promise<{ spent: number; input_tokens: number; output_tokens: number } | undefined>;
  acceptTool(name: string): Promise<unknown>;
}

export const KEY = "sk-test-key-of-the-model";
const TRACE: PolicyTrace = {
  policy: "policy.yaml@v1",
  policy_version: "1:227da1dce09c",
  decision: "ALLOW",
  matched: [],
  defaulted: true,
};
const JOB: Job = {
  id: "J-42",
  kind: "default",
  state: "WAITING_ON_ANSWER",
  reason: null,
  epoch: 1,
  attempts: 1,
  maxAttempts: 3,
  external: true,
  owner: "executor:ana-bot",
  holder: null,
  leaseUntil: null,
  spec: null,
  result: null,
  env: null,
  repo: null,
  labels: {},
  artifacts: [],
  priority: "P1",
  pendingAsks: 1,
  awaitsReports: false,
  ttlUntil: 0,
  createdAt: 0,
  updatedAt: 0,
};

export async function openRunnerWorld(wish: RunnerOptions): Promise<RunnerWorld> {
  const dir = mkdtempSync(join(tmpdir(), "parley-runner-"));
  const roleDir = join(dir, "prompts");
  for (const [name, yaml] of Object.entries(wish.roles ?? {})) {
    mkdirSync(dirname(join(roleDir, name)), { recursive: true });
    writeFileSync(join(roleDir, name), yaml);
  }
  const llm = await scriptedLlm(wish.script);
  const events: RunnerEvent[] = [];
  const logged: string[] = [];
  const happened: string[] = [];
  const artifacts = new Map<string, string>();
  const log = pino({ base: null }, { write: (line) => void logged.push(line) });

  const env = { PARLEY_DATA_DIR: dir, ...(wish.on === "postgres" && { DATABASE_URL: await freshDatabase() }) };
  const config = loadConfig({ flags: {}, env });
  const store = await openStore(config, {
    clock: systemClock,
    random: systemRandom,
    exclusive: false,
    log: { warn: () => undefined },
    onFatal: (error) => {
      throw error;
    },
  });
  const ctx = {
    ...store,
    clock: systemClock,
    newId: idMaker(systemRandom, () => systemClock.now()),
    addressed: config.addressed,
    askerBounds: openAskerBounds(),
    openWaits: openWaitList(),
    log,
  };
  const schemas = openForeignSchemas();
  const scan = openSecretScan({ canaries: wish.canaries ?? [] });
  const roles = await openRoles({ dirs: [roleDir, SHIPPED_PROMPTS], log, schemas });
  const model = wish.model ?? "anthropic/scripted";
  const tools = Object.entries(wish.tools ?? {}).map(([name, tool]) => {
    return [name, { read_only: true, timeout_ms: 15_000, caps_args: {}, ...tool }] as const;
  });

  const runner = openRunner({
    settings: { model, baseUrl: baseUrlOf(model, llm.url), apiKeyEnv: "MODEL_KEY", temperature: 0 },
    servers: wish.servers ?? {},
    tools: Object.fromEntries(tools),
    env: { PATH: process.env["PATH"], LANG: "C", MODEL_KEY: KEY, DATABASE_URL: "postgres://secret", ...wish.env },
    clock: systemClock,
    fetch: systemFetch,
    schemas,
    log,
    roles: { find: (id) => roles.find(id), defaultOf: defaultRoleOf },
    budget: openModelBudget(ctx, wish.spending ?? { budgetUsdMonth: 5 }),
    pins: { check: (tool, definition) => checkPin(store, tool, definition) },
    share: (key, askId, signal, run) => shareRun(ctx, { key, askId, signal }, run),
    async allowWrite({ ask, tool }) {
      happened.push(`policy: ${tool} on ${String(ask.meta["resource"])}`);
      return { isAllowed: wish.allowsWrites ?? false, reason: "writes are for people to allow" };
    },
    artifacts: {
      async write({ jobId, epoch }, path, bytes) {
        artifacts.set(`${jobId}/${epoch}/${path}`, new TextDecoder().decode(bytes));
      },
    },
    redact: async (text) => redact(text, (await scan.find([{ path: "", text }])).finds),
    policyText: () => "version: 1\nrules: []",
    policyAdvice: false,
    maxAskBackRounds: 1,
    observe: (event) => void events.push(event),
    ...wish.more,
  });

  let asked = 0;
  async function ask(one: AskFields = {}): Promise<ResponderAnswer | ResponderPass> {
    asked += 1;
    const offer: AskOffer = {
      ask: {
        id: `ask-${asked}`,
        jobId: JOB.id,
        stepId: "S-1",
        type: one.type ?? "RESOURCE_FETCH",
        prompt: one.prompt ?? "Which currency does the invoice export use?",
        contextHash: "c0ffee",
        envelope: one.envelope ?? null,
        constraints: {
          ...(one.maxTokens !== undefined && { maxTokens: one.maxTokens }),
          ...(one.allowedTools && { allowedTools: one.allowedTools }),
        },
        roleId: one.roleId ?? null,
        meta: one.meta ?? {},
        principal: "executor:ana-bot",
        epoch: 1,
        status: "PENDING",
        stage: "runner",
        stages: [],
        createdAt: 0,
        expiresAt: 0,
        joinedTo: null,
        addressedId: null,
        questionId: null,
        decisionKey: one.decisionKey ?? null,
        consentDigest: null,
      },
      job: JOB,
      options: one.options ?? [],
      trace: TRACE,
      leftMs: one.leftMs ?? 60_000,
      rounds: one.rounds ?? [],
    };
    return runner.responder.respond(offer, one.signal ?? new AbortController().signal);
  }

  return {
    runner,
    llm,
    store,
    ask,
    events,
    logged,
    happened,
    artifacts,
    async answer(one) {
      const outcome = await ask(one);
      if (outcome.kind !== "answer") throw new Error(`passed on: ${JSON.stringify(outcome)}`);
      return outcome;
    },
    async pass(one) {
      const outcome = await ask(one);
      if (outcome.kind !== "pass") throw new Error(`answered: ${JSON.stringify(outcome)}`);
      return outcome;
    },
    async acceptTool(name) {
      const pin = (await listToolPins(store)).find((one) => one.name === name);
      return acceptTool(store, { kind: "server", id: "test" }, { tool: name, hash: pin?.changed?.hash ?? "" });
    },
    async spent() {
      const { sql } = await import("../../src/core/store/sql.ts");
      const rows = await store.db.all<{ spent: number; input_tokens: number; output_tokens: number }>(
        sql`SELECT spent, input_tokens, output_tokens FROM runner_spending`,
      );
      return rows[0];
    },
    async [Symbol.asyncDispose]() {
      await runner.close();
      await llm[Symbol.asyncDispose]();
      await scan.close();
      await schemas.close();
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Where each provider's package looks for its path. */
function baseUrlOf(model: string, url: string): string {
  return model.startsWith("google/") ? `${url}/v1beta` : `${url}/v1`;
}
