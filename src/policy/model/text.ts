import { BadYaml, readYaml, withoutItem } from "../../lib/strict-yaml.ts";
import { listLines } from "../../lib/yaml-text.ts";
import { checkPolicy, pathText, PolicyMistake, type ReadExpression } from "./check.ts";
import type { Policy, PolicyClass } from "./policy.ts";

/** The limits of a policy file. */
export const POLICY_LIMITS = { maxBytes: 256 * 1024, maxAliases: 10 };

/**
 * Returns the policy that a file holds. The reader of expressions is loaded where the file has one.
 *
 * @throws {PolicyMistake} one sentence for each mistake, beginning with file and line
 */
export async function loadPolicy(text: string, name?: string): Promise<Policy> {
  if (!text.includes("expr")) return parsePolicy(text, name);
  const { readExpression } = await import("./expression.ts");
  return parsePolicy(text, name, readExpression);
}

/**
 * Returns the policy that a file without expressions holds, or one whose reader of expressions is given.
 *
 * @throws {PolicyMistake} one sentence for each mistake, beginning with file and line
 */
export function parsePolicy(text: string, name = "policy.yaml", readExpression?: ReadExpression): Policy {
  try {
    const yaml = readYaml(text, POLICY_LIMITS);
    try {
      return checkPolicy(yaml.value, name, readExpression);
    } catch (error) {
      if (!(error instanceof PolicyMistake)) throw error;
      throw new PolicyMistake(error.faults, (path) => `${name}:${yaml.lineOf(path)}: ${pathText(path)}`);
    }
  } catch (error) {
    if (!(error instanceof BadYaml)) throw error;
    throw new PolicyMistake([{ path: [], says: error.message }], () => `${name}:${error.line}:`);
  }
}

/** A rule as it is written down. */
export interface WrittenRule {
  id: string;
  when: Omit<PolicyClass, "digest">;
  decision: "ALLOW";
  reason: string;
}

/** Returns the lines of a rule as a policy file has them. */
export function ruleText(rule: WrittenRule): string[] {
  return listLines("rules", [rule]).slice(1);
}

/** Returns the file's text without the rule of that id; unchanged where no rule has it. @throws {PolicyMistake} */
export async function removeRule(text: string, id: string, name?: string): Promise<string> {
  const rule = (await loadPolicy(text, name)).rules.find((one) => one.id === id);
  if (!rule) return text;
  const changed = withoutItem(text, "rules", rule.index, POLICY_LIMITS);
  await loadPolicy(changed, name);
  return changed;
}

/** The policy that is in force until somebody writes another one (spec/security 2). */
export const FIRST_POLICY = `# What agents may do without asking a person, what they may not, and what is put to people.
# docs/how-to/policy.md says it all; "parley policy test --action write --env prod" says what would be decided, and
# "parley policy lint" what this file holds. It is read again whenever it changes.
version: 1

# What no rule speaks of. "read" is for questions and for reading: clarify, choose, read. All the rest is "other":
# ESCALATE puts it to people, DENY refuses it.
defaults: { read: ALLOW, other: ESCALATE }

# The order of rules never matters: DENY wins over ESCALATE, and ESCALATE over ALLOW. "*" stands for anything.
rules:
  - id: prod-writes
    when: { env: prod, action: [ write, apply_diff ] }
    decision: DENY
    reason: Production data is changed by releases only

  # Two people of a team for every deployment, and nobody may allow it for good:
  #
  # - id: prod-deploys
  #   when: { env: prod, action: deploy }
  #   decision: ESCALATE
  #   to: release-team
  #   need: 2
  #   standing: false

  # What agents ask people about, a function call, is decided only by a rule that names the function; none does here:
  #
  # - id: lookups
  #   when: { fn: "look_up_*", agent: support }
  #   decision: ALLOW

  # What coding agents look at, the tests of a project, and what MCP servers of files and of GitHub show, without a
  # question. Take out the "# " of each line, and what your projects do not need: tests, linters and hooks of git run code
  # of the project.
  #
  # - id: agents-look-and-test
  #   when:
  #     fn: [ Bash, bash, shell, Shell, exec, exec_command, run_shell_command ]
  #     command:
  #       [ pwd, date, echo *, ls *, tree *, cat *, head *, tail *, wc *, stat *, which *, grep *, rg *, find *, sort *,
  #         uniq, uniq -c, sed -n *, git status *, git log *, git diff *, git show *, git blame *, git ls-files *,
  #         git rev-parse *, git branch, git branch -a, git branch -vv, git branch --show-current, gh pr list *,
  #         gh pr view *, gh pr view --json *, gh pr view * --json *, gh pr diff *, gh pr checks *, gh run list *,
  #         gh run list --limit *, gh run view *, docker ps, docker compose ps, npm test *, npm run build,
  #         npm run lint *, npm run typecheck *, npm run test:*, node --test *, node --version, npx tsc --noEmit *,
  #         npx eslint *, npx prettier --check *, npx vitest run *, npx vitest run * --reporter=verbose, pytest *,
  #         pytest -q *, pytest * -q, python -m pytest *, ruff check *, mypy *, go test *, cargo check *, cargo test *,
  #         make test, make lint ]
  #   decision: ALLOW
  # - id: agents-read
  #   when:
  #     fn:
  #       [ Read, read, view, read_file, Grep, grep, Glob, glob, search_file_content,
  #         mcp__filesystem__read_text_file, mcp__filesystem__list_directory, mcp_filesystem_read_text_file,
  #         mcp_filesystem_list_directory, filesystem_read_text_file, filesystem_list_directory ]
  #     path: "**"
  #   decision: ALLOW
  # - id: agents-read-github
  #   when:
  #     fn:
  #       [ mcp__github__list_issues, mcp__github__get_issue, mcp__github__issue_read, mcp__github__list_pull_requests,
  #         mcp__github__get_pull_request, mcp__github__pull_request_read, mcp_github_list_issues,
  #         mcp_github_issue_read, mcp_github_list_pull_requests, mcp_github_pull_request_read, github_list_issues,
  #         github_issue_read, github_list_pull_requests, github_pull_request_read ]
  #   decision: ALLOW
`;
