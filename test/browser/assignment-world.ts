import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import type { TaskState } from "../../src/tasks/model/task.ts";
import { createKey } from "../../src/access/create-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../support/identities.ts";
import { until } from "../support/contract.ts";
import type { FakeStep } from "../support/fake-agents/play.ts";
import { openWorld, type Reply, type World } from "../support/world.ts";
import { type Look, type Visitor, visit } from "./visitor.ts";

/** A server that gives work in one repository, and the client that sends it tasks. */
export interface AssignmentWorld extends AsyncDisposable {
  world: World;
  /** The user's checkout. */
  checkout: string;
  git(...args: string[]): string;
  /** Speaks with an assign key of the operator's. */
  planner(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Gives a task, and what its agent will do, one thing after the other. */
  give(
    id: string,
    prompt: string,
    more?: { does?: readonly FakeStep[]; dependencies?: readonly string[] },
  ): Promise<void>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  read(id: string): Promise<any>;
  /** Resolves when a task is in a state. */
  reaches(id: string, state: TaskState): Promise<void>;
}

const E = "/assignment";
/** Agents are processes, and start as fast as the machine lets them. */
const PATIENCE_MS = 240_000;

const FILES: Readonly<Record<string, string>> = {
  "README.md": "# Shop\n\nSells things.\n",
  "src/export.ts": [
    "export function exportOrders(orders) {",
    "  return orders.map((order) => ({",
    "    id: order.id,",
    "    total: order.total,",
    "  }));",
    "}",
    "",
  ].join("\n"),
};

/** Claude Code as far as Parley sees of it. */
const CLAUDE = fileURLToPath(new URL("../support/fake-agents/claude.ts", import.meta.url));

/** Opens a world with a repository `shop`; what is given goes into the settings of Agent Assignment as it is. */
export async function openAssignments(assignment: Record<string, unknown> = {}): Promise<AssignmentWorld> {
  const folder = mkdtempSync(join(tmpdir(), "parley-assignments-"));
  const checkout = join(folder, "shop");
  const git = (...args: string[]): string =>
    execFileSync("git", args, {
      cwd: checkout,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1", ...AUTHOR },
    });
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(checkout, path, ".."), { recursive: true });
    writeFileSync(join(checkout, path), text);
  }
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-q", "-m", "Begin");

  const config = join(folder, "parley.yaml");
  // It takes the steps that stand under the name of its task.
  const steps = join(folder, "steps");
  mkdirSync(steps);
  const claude = join(folder, "claude");
  const lookUp = `export FAKE_AGENT="$(cat "${steps}/$PARLEY_TASK.json" 2>/dev/null || echo '[]')"`;
  writeFileSync(claude, `#!/bin/sh\n${lookUp}\nexec ${CLAUDE} "$@"\n`, { mode: 0o755 });
  const agents = { claude: { type: "claude", command: [claude] } };
  const repos = [{ name: "shop", path: checkout, agent: "claude", parallel: 8 }];
  // YAML reads JSON.
  writeFileSync(config, JSON.stringify({ repos, agents, assignment: { parallel: 8, sandbox: "off", ...assignment } }));
  const world = await openWorld({ on: "sqlite", running: true, env: { PARLEY_CONFIG: config } });
  const { text: key } = await createKey(world.server.ctx, { name: "planner", scope: "assign", person: OPERATOR });
  const planner: AssignmentWorld["planner"] = async (method, path, body, more = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...more };
    const reply = await world.call(method, path, { headers, ...(body !== undefined && { body }) });
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  };
  const read = async (id: string) => (await planner("GET", `${E}/tasks/${encodeURIComponent(id)}`)).body;
  return {
    world,
    checkout,
    git,
    planner,
    read,
    async give(id, prompt, { does = [], dependencies = [] } = {}) {
      writeFileSync(join(steps, `${id}.json`), JSON.stringify(does));
      await planner("POST", E, { id, prompt, dependencies });
    },
    async reaches(id, state) {
      await until(async () => (await read(id)).state === state, `${id} ${state}`, PATIENCE_MS);
    },
    async [Symbol.asyncDispose]() {
      // A server that stops leaves its agents at work.
      try {
        const { body } = await planner("GET", E);
        const ids = body.tasks.map((task: { id: string }) => encodeURIComponent(task.id));
        await Promise.all(ids.map((id: string) => planner("DELETE", `${E}/tasks/${id}`)));
      } finally {
        await world[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

const AUTHOR = {
  GIT_AUTHOR_NAME: "ana",
  GIT_AUTHOR_EMAIL: "ana@localhost",
  GIT_COMMITTER_NAME: "ana",
  GIT_COMMITTER_EMAIL: "ana@localhost",
};

/** Opens a page, signed in as the operator. */
export async function visitAssignments(
  browser: Browser,
  { world }: Pick<AssignmentWorld, "world">,
  look: Look,
  path = "/console/assignments",
): Promise<Visitor> {
  const { code } = await createSignInLink(world.server.ctx, OPERATOR);
  const visitor = await visit(browser, world.url, { ...look, path: `/console#start=${code}` });
  await visitor.page.getByText("Signed in as operator (admin)").waitFor();
  await visitor.page.goto(path);
  return visitor;
}
