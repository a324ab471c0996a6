import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { environmentWith } from "../proof/plant-environment.ts";
import { ROOT_FOLDER } from "../support/documents.ts";
import { databaseUrl } from "../support/postgres.ts";

/** One mistake in a room of `src/`, and the test file that must fail with it. */
interface Regression {
  file: string;
  /** Stands exactly once in the file. */
  find: string;
  put: string;
  test: string;
  /** The test that shows it, where the whole file would take long. */
  name?: string;
}

const REGRESSIONS: readonly Regression[] = [
  {
    file: "access/store/keys.ts",
    find: "WHERE hash = ${hash} AND revoked_at IS NULL AND",
    put: "WHERE hash = ${hash} AND",
    test: "access/keys.test.ts",
    name: "are refused from the very next look once revoked",
  },
  {
    file: "activity/read.ts",
    find: "untilMs: Math.min(given.untilMs ?? at, at) }",
    put: "untilMs: given.untilMs ?? at - 3_600_000 }",
    test: "activity/activity.test.ts",
  },
  {
    file: "agents/read-agents.ts",
    find: "filter((name) => name > after)",
    put: "filter(() => true)",
    test: "requests/asking-agents.test.ts",
    name: "come page by page",
  },
  {
    file: "asks/jobs/check-lease.ts",
    find: "leaseHash === sha256Hex(token)",
    put: "token !== ''",
    test: "asks/job-claims.test.ts",
    name: "offers a dead executor",
  },
  {
    file: "backup/store/tables.ts",
    find: "const names = columns.map((column) => column.name).sort();",
    put: "const names = columns.map((column) => column.name).slice(1);",
    test: "personal-data/erase-person.test.ts",
    name: "leaves the name and the addresses nowhere",
  },
  {
    file: "channels/email/target.ts",
    find: "if (main === undefined || errors.length > 0) return",
    put: "if (main === undefined) return",
    test: "channels/email-target.small.test.ts",
  },
  {
    file: "cli/store/record-csv.ts",
    find: "replaceAll('\"', '\"\"')",
    put: "trim()",
    test: "cli/record-csv.small.test.ts",
  },
  {
    file: "config/config.ts",
    find: "${whereOf(broken.pos[0])}: this",
    put: "this",
    test: "config/config.small.test.ts",
    name: "name the line of broken YAML",
  },
  {
    file: "connect/agents/codex/codex.ts",
    find: '{ behavior: "deny", message: because }',
    put: '{ behavior: "allow" }',
    test: "connect/codex.small.test.ts",
  },
  {
    file: "conversations/converse.ts",
    find: 'entry.from === "anyone" || human !== undefined',
    put: "true",
    test: "conversations/conversations.test.ts",
    name: "are begun by people who are enrolled",
  },
  {
    file: "core/model/field-problem.ts",
    find: "unit < 0xdc00 || unit > 0xdfff",
    put: "true",
    test: "asks/rules.small.test.ts",
  },
  { file: "doctor/store/checks.ts", find: "  ...ADDRESSED_CHECKS,\n", put: "", test: "doctor/addressed.test.ts" },
  {
    file: "gate/judge-tool.ts",
    find: 'pinned === "same"',
    put: 'pinned !== "new"',
    test: "gate/calls.test.ts",
    name: "is refused where the tool is not what it was",
  },
  {
    file: "key-rotation/rotate-key.ts",
    find: "keys.fresh.seal(kept, found.rowId)",
    put: "found.sealed",
    test: "key-rotation/rotate-key.test.ts",
    name: "opens all that the old one had sealed",
  },
  {
    file: "lib/json/exact-json.ts",
    find: "&& !Number.isSafeInteger(value) &&",
    put: "&& Number.isSafeInteger(value) &&",
    test: "lib/exact-json.small.test.ts",
  },
  {
    file: "notices/model/push-settings.ts",
    find: 'audience.includes("general") ||',
    put: "",
    test: "channels/push.test.ts",
    name: "hear of what they are interested in",
  },
  {
    file: "personal-data/model/identifiers.ts",
    find: "replace(found, () => put)",
    put: "replace(found, () => before)",
    test: "personal-data/erased-text.small.test.ts",
  },
  {
    file: "policy/model/match.ts",
    find: "return value === head",
    put: "return value.startsWith(head)",
    test: "policy/policy.small.test.ts",
  },
  {
    file: "protocols/http/errors.ts",
    find: 'if (typeof retryAfter === "number") reply',
    put: "if (retryAfter === null) reply",
    test: "protocols/http/limits.test.ts",
    name: "are counted whatever comes of them",
  },
  {
    file: "questions/model/points.ts",
    find: "input.cappedToday + uncapped - rules.dailyCap",
    put: "uncapped - rules.dailyCap",
    test: "asks/rules.small.test.ts",
  },
  {
    file: "requests/model/settle.ts",
    find: "decision.digest !== request.digest",
    put: 'decision.digest === ""',
    test: "requests/decisions.test.ts",
    name: "is refused when it was shown something else",
  },
  {
    file: "responders/answer-runner/prompt.ts",
    find: "MOST_INPUT_CHARS - spent",
    put: "MOST_INPUT_CHARS",
    test: "responders/prompt-layers.small.test.ts",
  },
  {
    file: "server/stop.ts",
    find: "if (!handsOver) refusing.abort();",
    put: "",
    test: "protocols/http/shutdown.test.ts",
    name: "refuses what comes later",
  },
  {
    file: "stuck/model/causes.ts",
    find: "Math.max(of.length, counts[cause] ?? 0)",
    put: "of.length",
    test: "stuck/stuck-causes.small.test.ts",
  },
  { file: "tasks/model/names.ts", find: "`AA-Depends-On: ", put: "`AA-Depends: ", test: "tasks/names.small.test.ts" },
  {
    file: "workshop/examine-permission.ts",
    find: "real !== root && !real.startsWith(root + sep)",
    put: "false",
    test: "workshop/examine-wish.small.test.ts",
  },
  {
    file: "wire/aliases.ts",
    find: 'if (name.includes("_")) both[camel(name)] = value;',
    put: "if (value === null) continue;",
    test: "asks/job-events.test.ts",
    name: "whole and in both spellings",
  },
];

/** Rooms whose work is to start other programs: large tests alone hold them. */
const HELD_BY_LARGE_TESTS = ["gateway", "worker"];

const folder = mkdtempSync(join(tmpdir(), "parley-regressions-"));
after(() => rmSync(folder, { recursive: true }));

/** Runs the test file by the runner of `npm test` with the mistake in place; returns the exit code and the output. */
async function runWith({ file, find, put, test, name }: Regression): Promise<{ code: number | null; out: string }> {
  const mark = join(folder, `${REGRESSIONS.findIndex((one) => one.file === file)}.mark`);
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const child = spawn(
    process.execPath,
    [
      join(ROOT_FOLDER, "scripts", "test.mjs"),
      "--size=small,medium",
      `test/${test}`,
      ...(name === undefined ? [] : [`--test-name-pattern=${name}`]),
    ],
    {
      cwd: ROOT_FOLDER,
      env: {
        ...env,
        ...environmentWith({ path: join(ROOT_FOLDER, "src", file), find, put, mark }),
        TEST_DATABASE_URL: await databaseUrl(),
        TEST_RESULTS: join(folder, "results.json"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (out += text));
  }
  const [code] = (await once(child, "close")) as [number | null];
  assert.ok(existsSync(mark), `the mistake was not put into ${file}: ${out}`);
  return { code, out };
}

describe("a mistake that is put into a room fails its tests", () => {
  for (const regression of REGRESSIONS) {
    it(`in ${regression.file}`, async () => {
      const { code, out } = await runWith(regression);
      assert.equal(code, 1, out);
      const failed = JSON.parse(readFileSync(join(folder, "results.json"), "utf8")) as {
        failures: { file: string }[];
      }[];
      assert.deepEqual(
        failed[0]?.failures.map(({ file }) => file),
        [`test/${regression.test}`],
      );
    });
  }

  it("in every room that no program of its own stands for", () => {
    const rooms = globSync("src/*/", { cwd: ROOT_FOLDER }).map((path) => path.split("/")[1] ?? "");
    const tried = REGRESSIONS.map(({ file }) => file.split("/")[0] ?? "");
    assert.deepEqual([...new Set([...tried, ...HELD_BY_LARGE_TESTS])].sort(), rooms.sort());
  });
});
