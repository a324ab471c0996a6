import { Dice } from "./secret-corpus.ts";

/** A function call of a small team's week, as an agent's hook or an agent's own code sends it. */
export interface WeekCall {
  /** From 1, Monday, to 5. */
  day: number;
  agent: string;
  fn: string;
  args: Readonly<Record<string, unknown>>;
}

const FILES = (
  "src/cart.ts src/tax.ts src/orders/refund.ts src/orders/ship.ts src/api/routes.ts src/api/errors.ts src/lib/dates.ts " +
  "src/lib/money.ts src/mail/render.ts web/app.tsx web/components/price-tag.tsx test/cart.test.ts test/tax.test.ts " +
  "test/api/routes.test.ts docs/setup.md docs/api.md package.json README.md"
).split(" ");
const NAMES = "total priceOf shippingFor retry removeItem PriceTag currency refund parseDate".split(" ");
const SERVICES = "checkout search-indexer orders-api mailer inventory price-feed".split(" ");
const CODE = ["return rate;", "limit = 10", "// TODO round", "const shipping = 4.9;", 'import { tax } from "./tax";'];
const SUBJECTS = ["keep the currency of a refund", "round the tax once", "retry a lost mail", "sort the cart", "tidy"];

/** Commands of a developer's agent, each with how often it comes. */
const COMMANDS: readonly (readonly [times: number, line: (dice: Dice, file: string) => string])[] = [
  [6, () => "git status"],
  [3, () => "git status --short"],
  [5, (dice) => `git diff${dice.one(["", " --stat", " HEAD~1", " main...HEAD"])}`],
  [4, (dice) => `git log --oneline -${1 + dice.below(20)}`],
  [2, (dice, file) => `git log -p -${1 + dice.below(4)} -- ${file}`],
  [2, () => "git branch --show-current"],
  [4, (_, file) => `git add ${file}`],
  [4, (dice) => `git commit -m "fix: ${dice.one(SUBJECTS)}"`],
  [2, (dice, file) => `git add ${file} && git commit -m "feat: ${dice.one(SUBJECTS)}"`],
  [1, (dice) => `git checkout -b feat/${dice.one(NAMES)}-${dice.below(90)}`],
  [1, (dice) => `git push -u origin feat/${dice.one(NAMES)}-${dice.below(90)}`],
  [1, () => "git pull --rebase"],
  [1, () => "git stash"],
  [10, (dice) => `npm test${dice.one(["", " 2>&1 | tail -40", " -- test/cart.test.ts", " -- test/tax.test.ts"])}`],
  [2, () => "npm run build"],
  [2, (dice) => `npm run lint${dice.one(["", " 2>&1 | tail -30"])}`],
  [1, () => "npm run codegen"],
  [1, () => "npm run typecheck"],
  [1, (dice) => `npm install ${dice.one(["zod@4.1.0", "pino@10.0.0", "undici@7.9.0"])}`],
  [3, () => "npx tsc --noEmit 2>&1 | tail -30"],
  [3, (_, file) => `npx eslint ${file}`],
  [1, (_, file) => `npx prettier --write ${file}`],
  [2, (dice) => `pytest -q tests/test_${dice.one(NAMES)}.py`],
  [8, (dice) => `rg -n "${dice.one(NAMES)}" src${dice.one(["", " test", " | head -20"])}`],
  [4, (dice) => `grep -rn "${dice.one(NAMES)}" ${dice.one(["src", "test", "web"])} | head -${10 + dice.below(30)}`],
  [5, (dice) => `ls -la ${dice.one(["src", "test", "web/components", "docs"])}`],
  [4, (_, file) => `cat ${file}`],
  [4, (dice, file) => `sed -n ${1 + dice.below(90)},${100 + dice.below(90)}p ${file}`],
  [3, (dice) => `find src -name "*.${dice.one(["ts", "tsx"])}" | wc -l`],
  [2, (_, file) => `head -50 ${file} && wc -l ${file}`],
  [2, (dice) => `gh pr view ${100 + dice.below(90)} --json title,state`],
  [2, () => "gh pr list"],
  [1, (dice) => `gh run view ${7000 + dice.below(900)}`],
  [1, (_, file) => `mkdir -p ${file.replace(/\.\w+$/, "")}`],
  [1, () => "docker compose ps"],
  [1, () => "curl -s http://localhost:3000/health"],
  [1, (dice) => `node scripts/${dice.one(["seed", "report", "rename"])}.mjs`],
  [1, () => "rm -rf dist"],
];

interface Sent {
  fn: string;
  args: Readonly<Record<string, unknown>>;
}
type Tool = (dice: Dice, at: { folder: string; file: string; line: string }) => Sent;

const sent = (fn: string, args: Readonly<Record<string, unknown>>): Sent => ({ fn, args });
const changed = (dice: Dice) => ({ old: dice.one(CODE), new: `${dice.one(CODE)} // ${dice.below(99)}` });

const READS: Readonly<Record<string, Tool>> = {
  "claude-code": (dice, { folder, file }) =>
    dice.one([
      sent("Read", { file_path: `${folder}/${file}`, offset: dice.below(200), limit: 80 }),
      sent("Grep", { pattern: dice.one(NAMES), path: `${folder}/src`, output_mode: "content" }),
      sent("Glob", { pattern: "**/*.ts", path: folder }),
    ]),
  "gemini-cli": (dice, { folder, file }) =>
    dice.one([
      sent("read_file", { file_path: `${folder}/${file}` }),
      sent("search_file_content", { pattern: dice.one(NAMES), dir_path: "src" }),
    ]),
  "copilot-cli": (_, { folder, file }) => sent("view", { path: `${folder}/${file}` }),
  opencode: (dice, { folder, file }) =>
    dice.one([
      sent("read", { patterns: [`${folder}/${file}`], input: { filePath: `${folder}/${file}` } }),
      sent("grep", { patterns: [dice.one(NAMES)], input: { pattern: dice.one(NAMES), path: "src" } }),
    ]),
  openclaw: (_, { file }) => sent("read", { path: file }),
};

const EDITS: Readonly<Record<string, Tool>> = {
  "claude-code": (dice, { folder, file }) => {
    const { old, new: now } = changed(dice);
    return dice.below(4) === 0
      ? sent("Write", { file_path: `${folder}/${file}`, content: `${now}\n` })
      : sent("Edit", { file_path: `${folder}/${file}`, old_string: old, new_string: now });
  },
  "gemini-cli": (dice, { folder, file }) => {
    const { old, new: now } = changed(dice);
    return sent("replace", { file_path: `${folder}/${file}`, old_string: old, new_string: now, instruction: "Change" });
  },
  "copilot-cli": (dice, { folder, file }) => {
    const { old, new: now } = changed(dice);
    return sent("edit", { path: `${folder}/${file}`, old_str: old, new_str: now });
  },
  codex: (dice, { file }) => {
    const { old, new: now } = changed(dice);
    return sent("apply_patch", {
      command: `*** Begin Patch\n*** Update File: ${file}\n@@\n-${old}\n+${now}\n*** End Patch`,
    });
  },
  openclaw: (dice, { file }) => sent("write", { path: file, content: dice.one(CODE) }),
};

const SHELLS: Readonly<Record<string, Tool>> = {
  "claude-code": (dice, { line }) => sent("Bash", { command: line, description: `Step ${dice.below(99)}` }),
  codex: (dice, { folder, line }) =>
    dice.one([
      sent("exec_command", { cmd: line, workdir: folder }),
      sent("Bash", { command: line, description: "Look" }),
      sent("shell", { command: ["bash", "-lc", line], workdir: folder, timeout_ms: 120_000 }),
    ]),
  "gemini-cli": (_, { line }) => sent("run_shell_command", { command: line, description: "Runs it" }),
  "copilot-cli": (_, { line }) => sent("bash", { command: line, description: "Run it" }),
  cursor: (_, { line }) => sent("Shell", { command: line }),
  opencode: (_, { line }) => sent("bash", { patterns: [line], input: { command: line, description: "Runs it" } }),
  openclaw: (_, { line }) => sent("exec", { command: line }),
};

/** Tools of MCP servers and of the web, which Claude Code asks about. */
const TOOLS: readonly Tool[] = [
  (dice) => sent("mcp__github__get_pull_request", { owner: "acme", repo: "shop", pullNumber: 100 + dice.below(90) }),
  () => sent("mcp__github__list_issues", { owner: "acme", repo: "shop", state: "open" }),
  (dice) => sent("mcp__sentry__get_issue", { issue: `SHOP-${200 + dice.below(90)}` }),
  (dice) => sent("mcp__postgres__query", { sql: `SELECT id, total FROM orders WHERE id = ${dice.below(900)}` }),
  (dice) => sent("WebFetch", { url: `https://docs.example/api/${dice.one(NAMES)}`, prompt: "Which arguments?" }),
];

/** Functions that agents of the support and the operation ask about. */
const CALLS: readonly (readonly [agent: string, times: number, call: (dice: Dice) => Sent])[] = [
  ["support", 6, (dice) => sent("get_order", { order: `A-${1000 + dice.below(900)}` })],
  ["support", 3, (dice) => sent("look_up_customer", { email: `customer${dice.below(99)}@customers.example` })],
  [
    "support",
    5,
    (dice) =>
      sent("issue_refund", {
        order: `A-${1000 + dice.below(900)}`,
        amount: (100 + dice.below(5000)) / 100,
        currency: "EUR",
        reason: dice.one(["late", "broken", "lost"]),
      }),
  ],
  ["support", 2, (dice) => sent("add_note", { order: `A-${1000 + dice.below(900)}`, text: "Customer called." })],
  ["ops-bot", 3, (dice) => sent("get_metrics", { service: dice.one(SERVICES), minutes: 30 })],
  [
    "ops-bot",
    2,
    (dice) => sent("deploy", { service: dice.one(SERVICES), version: `1.8.${dice.below(9)}`, env: "staging" }),
  ],
  ["ops-bot", 1, (dice) => sent("restart_service", { service: dice.one(SERVICES), env: "staging" })],
];

/** The agents of the week, by how much each works, and the folder of each. */
const AGENTS: readonly (readonly [agent: string, times: number, folder: string])[] = [
  ["claude-code", 8, "/home/kim/code/shop"],
  ["codex", 5, "/home/kim/code/shop"],
  ["gemini-cli", 3, "/workspaces/shop"],
  ["copilot-cli", 2, "/workspaces/shop"],
  ["cursor", 2, "/Users/jo/code/shop"],
  ["opencode", 3, "/Users/jo/code/shop"],
  ["openclaw", 2, "/home/kim/code/shop"],
];

const often = <T extends readonly [unknown, unknown, ...unknown[]]>(
  rows: readonly T[],
  times: (row: T) => number,
): T[] => rows.flatMap((row) => Array.from({ length: times(row) }, () => row));
const LINES = often(COMMANDS, ([times]) => times);
const WORKERS = often(AGENTS, ([, times]) => times);
const DESKS = often(CALLS, ([, times]) => times);

/** Returns the ordinary calls of five days; the same seed gives the same calls. */
export function workingWeek({ seed, perDay }: { seed: number; perDay: number }): WeekCall[] {
  const dice = new Dice(seed);
  return Array.from({ length: 5 * perDay }, (_, at): WeekCall => {
    const day = 1 + Math.floor(at / perDay);
    if (dice.below(10) === 0) {
      const [agent, , call] = dice.one(DESKS);
      return { day, agent, ...call(dice) };
    }
    const [agent, , folder] = dice.one(WORKERS);
    const file = dice.one(FILES);
    const place = { folder, file, line: dice.one(LINES)[1](dice, file) };
    const kind = dice.below(20);
    const other =
      kind < 3
        ? READS[agent]
        : kind < 6
          ? EDITS[agent]
          : kind === 6 && agent === "claude-code"
            ? dice.one(TOOLS)
            : null;
    const { fn, args } = (other ?? SHELLS[agent] ?? TOOLS[0])?.(dice, place) ?? sent("none", {});
    return { day, agent, fn, args: { ...args, cwd: folder } };
  });
}
