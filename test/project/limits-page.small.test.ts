import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { textOf } from "../support/documents.ts";

const page = textOf("docs/reference/limits.md");

/** The rows of the table under a heading, cell by cell, without their code marks. */
function rowsUnder(heading: string): string[][] {
  const section = page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? assert.fail(`no section ${heading}`);
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

const SIZES: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const DAY_MS = 86_400_000;

/** The number that a cell says, in bytes where it says a size. */
function numberIn(cell: string): number {
  const [, digits = "", unit = ""] = /^([\d,]+)(?: (KiB|MiB|GiB))?/.exec(cell) ?? assert.fail(`no number: ${cell}`);
  return Number(digits.replaceAll(",", "")) * (SIZES[unit] ?? 1);
}

/** Every number of the settings, by its name; test/config/config.small.test.ts holds this file equal to the program. */
function numbersOfSettings(): Map<string, number> {
  const found = new Map<string, number>();
  const walk = (value: unknown, at: string): void => {
    if (typeof value === "number") found.set(at, value);
    else if (typeof value === "object" && value !== null && !Array.isArray(value))
      for (const [name, inner] of Object.entries(value)) walk(inner, at === "" ? name : `${at}.${name}`);
  };
  walk(parse(textOf("parley.example.yaml")), "");
  return found;
}

/** Settings whose number is no limit, or one of what Parley does by itself. */
const NO_LIMITS = [
  "port",
  "sse_heartbeat_s",
  "ask_a_human.points.text",
  "ask_a_human.points.multiple_choice",
  "ask_a_human.notify.catch_up_minutes",
  "ask_a_human.notify.factor",
  "delivery.fallback_seconds",
  "relay.cache_ttl_s",
  "runner.temperature",
  "policy.grant_days",
  "policy.learn_after",
];

/** Where a fixed limit stands: the file, what stands before the number, and what one of the page's unit is there. */
const FIXED: readonly (readonly [limit: string, file: string, before: string, unit?: number])[] = [
  ["Body of a request to the crowd's API", "protocols/http/errors.ts", "BODY_LIMIT_BYTES = "],
  ["Body of a request to named people", "protocols/a2h/errors.ts", "A2H_BODY_BYTES = "],
  ["Body of a request of MCP", "protocols/mcp/mcp.ts", "BODY_LIMIT_BYTES = "],
  ["Body of a request to jobs and asks", "protocols/relay/errors.ts", "RELAY_BODY_BYTES = "],
  ["Body of a request about tasks", "protocols/assignment/errors.ts", "ASSIGNMENT_BODY_BYTES = "],
  ["Values in one body, at every door", "lib/json/json-body.ts", "MOST_VALUES = "],
  ["Answers to one question that wait on one server", "core/store/row-queues.ts", "MOST_WAITING = "],
  ["A mail that comes in", "channels/email/smtp-listener.ts", "LARGEST_MAIL_BYTES = "],
  ["Prompt of a question", "wire/question.ts", "promptField = text(10, "],
  ["Options of a question", "wire/question.ts", "[2, "],
  ["Answers to a question", "wire/question.ts", "min_responses: integer(1, "],
  ["Time that a question is open", "wire/question.ts", "timeout_seconds: integer(60, "],
  ["Answer of one participant", "questions/model/check-answer.ts", "ANSWER_MAX = "],
  ["Options of a request to named people", "wire/a2h/new-request.ts", "MOST_OPTIONS = "],
  ["Escalations of one request", "wire/a2h/new-request.ts", "MOST_STEPS = "],
  ["Long-poll of a request to named people", "protocols/a2h/requests.ts", "MOST_WAIT_S = "],
  ["Words of a request to named people", "wire/a2h/new-request.ts", "MOST_WORDS = "],
  ["Prompt of an executor's ask", "wire/relay/new-ask.ts", "MOST_PROMPT = "],
  ["Answer of people to an executor, and its error", "asks/model/people.ts", "MOST_ANSWER_CHARS = "],
  ["Lease of a job", "asks/model/job-rules.ts", "most: "],
  ["External job without a call", "asks/model/job-rules.ts", "EXTERNAL_IDLE_MS = ", DAY_MS],
  ["Events kept of one job", "asks/loops/sweep.ts", "MOST_EVENTS = "],
  ["Files of one job", "asks/model/artifact-rules.ts", "files: "],
  ["One file of a job", "asks/model/artifact-rules.ts", "fileBytes: "],
  ["All files of a job", "asks/model/artifact-rules.ts", "jobBytes: "],
  ["Rules of a policy", "policy/model/check.ts", "MAX_RULES = "],
  ["System prompt of a role", "responders/roles/role.ts", "MOST_SYSTEM_BYTES = "],
  ["Schema of a role", "responders/roles/role.ts", "MOST_SCHEMA_BYTES = "],
  ["Result of one tool of the answering model", "responders/answer-runner/run.ts", "MOST_RESULT_BYTES = "],
  ["Id of a task", "wire/tasks/bodies.ts", "MOST_ID = "],
  ["Prompt of a task", "wire/tasks/bodies.ts", "MOST_PROMPT = "],
  ["Dependencies of a task", "wire/tasks/bodies.ts", "MOST_DEPENDENCIES = "],
  ["Comments on lines in one review", "wire/tasks/bodies.ts", "MOST_COMMENTS = "],
  ["Tasks of one repository open at a time", "tasks/submit.ts", "MOST_OPEN = "],
  ["Automatic attempts of a submission", "tasks/model/task.ts", "MOST_STARTS = "],
  ["Resumes of one attempt", "tasks/model/task.ts", "MOST_RESUMES = "],
  ["Processes of one agent in the sandbox", "workshop/sandbox/bwrap.ts", "MOST_PROCESSES = "],
  ["Each log of one submission of a task", "workshop/supervisor/log.ts", "MOST_BYTES = "],
  ["Time that unfinished and rejected work has a name", "tasks/read-work-fates.ts", "REFS_KEPT_MS = ", DAY_MS],
  ["One file that an agent writes in the sandbox", "workshop/sandbox/bwrap.ts", "MOST_FILE_BYTES = "],
  ["Diff of a task", "workshop/git/read.ts", "MOST_DIFF_BYTES = "],
];

/** The product of numbers that stands in a source after these words. */
function numberAfter(before: string, file: string): number {
  const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8");
  const [, rest = ""] = source.split(before);
  const [product = assert.fail(`${file} has no ${before}`)] = /^\d[\d_]*(?: \*{1,2} \d[\d_]*)*/.exec(rest) ?? [];
  return product
    .replaceAll("_", "")
    .split(" * ")
    .map((factor) => factor.split(" ** ").map(Number))
    .reduce((all, [base = 0, power = 1]) => all * base ** power, 1);
}

describe("the page of limits", () => {
  it("tells every limit that can be set, as it usually is", () => {
    const settings = numbersOfSettings();
    for (const name of NO_LIMITS) assert.ok(settings.delete(name), name);
    const told = rowsUnder("Limits with a setting").map(
      ([, usual = "", name = ""]) => [name, numberIn(usual)] as const,
    );
    assert.deepEqual(new Map(told.toSorted()), new Map([...settings].toSorted()));
  });

  it("tells fixed limits as the program has them", () => {
    assert.deepEqual(
      rowsUnder("Fixed limits").map(([limit, number = ""]) => [limit, numberIn(number)]),
      FIXED.map(([limit, file, before, unit = 1]) => [limit, numberAfter(before, file) / unit]),
    );
  });
});
