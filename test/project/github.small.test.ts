import assert from "node:assert/strict";
import { existsSync, globSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { ROOT_FOLDER, textOf } from "../support/documents.ts";

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}
interface Workflow {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  jobs: Record<string, { permissions?: unknown; steps: Step[] }>;
}
interface Form {
  name: string;
  description: string;
  body: { type: string; id?: string; attributes: Record<string, unknown> }[];
}

const FOLDER = ".github";
const workflows = globSync(`${FOLDER}/workflows/*`, { cwd: ROOT_FOLDER });
const forms = globSync(`${FOLDER}/ISSUE_TEMPLATE/*`, { cwd: ROOT_FOLDER }).filter((file) => !file.includes("config."));
const read = (file: string): unknown => parse(textOf(file), { strict: true });

describe("the workflow that GitHub runs", () => {
  const { on, permissions, jobs } = read(`${FOLDER}/workflows/test.yml`) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it("is the only one, for pushes and pull requests, and may read the sources alone", () => {
    assert.equal(workflows.length, 1);
    assert.deepEqual(Object.keys(on), ["push", "pull_request"]);
    assert.deepEqual(permissions, { contents: "read" });
    assert.deepEqual(
      Object.values(jobs).filter((job) => job.permissions !== undefined),
      [],
    );
    assert.doesNotMatch(textOf(`${FOLDER}/workflows/test.yml`), /:\/\/|secrets\./);
  });

  it("runs commands of this repository, on Node 24", () => {
    const { scripts } = JSON.parse(textOf("package.json")) as { scripts: Record<string, string> };
    const commands = steps.flatMap(({ run }) => run ?? []);
    assert.deepEqual(commands, ["npm test", "npm run check"]);
    for (const command of commands) assert.ok(scripts[command.replace(/^npm (?:run )?/, "")], command);
    assert.deepEqual(
      steps.flatMap(({ uses }) => uses?.replace(/@v\d+$/, "") ?? []),
      ["actions/checkout", "actions/setup-node"],
    );
    assert.equal(steps.find(({ uses }) => uses?.includes("node"))?.with?.["node-version"], 24);
  });
});

describe("the form of an issue", () => {
  it("asks each thing once, and sends vulnerabilities to SECURITY.md", () => {
    assert.equal(forms.length, 1);
    const { name, description, body } = read(forms[0] ?? "") as Form;
    assert.ok(name && description);
    const ids = body.flatMap(({ id }) => id ?? []);
    assert.deepEqual(ids, [...new Set(ids)]);
    assert.equal(body[0]?.type, "markdown");
    assert.match(String(body[0].attributes["value"]), /vulnerability.*\]\(\.\.\/blob\/HEAD\/SECURITY\.md\)/);
    assert.ok(existsSync(`${ROOT_FOLDER}/SECURITY.md`));
  });

  it("is the only way to open one", () => {
    assert.deepEqual(read(`${FOLDER}/ISSUE_TEMPLATE/config.yml`), { blank_issues_enabled: false });
  });
});
