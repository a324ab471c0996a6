import { z } from "zod";
import { MERGES, type AgentRules, type AssignmentRules, type RepoRules } from "../tasks/model/rules.ts";
import { START_ON } from "../tasks/model/task.ts";
import { isOrigin, listOf, setting, text, whole } from "./setting.ts";

const REPOS = {
  error:
    "a list of repositories, each with name (lower-case letters, digits, . _ -) and path, and if need be base, agent, " +
    "default, parallel, setup, allow_commands, start_dependents_on, on_conflict, on_stale, on_approve, target, worker",
};
const AGENTS = {
  error:
    "a block of names, each with type (claude, codex, acp or command; claude, codex, gemini and opencode need none), " +
    "and if need be command (a list), pass_env (a list), key_proxy",
};
const PERSON = { error: "a name and an address, such as Parley <parley@localhost>" };
const COMMAND = z.array(z.string().min(1), REPOS).min(1, REPOS);
const VARIABLE = z.string(AGENTS).regex(/^[A-Za-z_][A-Za-z0-9_]*$/, AGENTS);
const person = (usual: string) =>
  z
    .string(PERSON)
    .regex(/^[^<>\r\n\0]+ <[^<>\s]+>$/, PERSON)
    .default(usual);
const START = z.enum(START_ON, { error: "completed or approved" });
const ON_CONFLICT = z.enum(["ask", "agent"], { error: "ask or agent" });
const ON_STALE = z.enum(["mark", "rerun"], { error: "mark or rerun" });
const USD = { error: "an amount in USD" };

const Repo = z
  .strictObject(
    {
      name: z.string(REPOS).regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, REPOS),
      path: z.string(REPOS).min(1, REPOS).optional(),
      base: z.string(REPOS).min(1, REPOS).default("HEAD"),
      agent: z.string(REPOS).min(1, REPOS).default("claude"),
      default: z.boolean(REPOS).default(false),
      parallel: z.int(REPOS).min(1, REPOS).max(64, REPOS).default(2),
      setup: z.string(REPOS).min(1, REPOS).optional(),
      allow_commands: z.array(z.union([z.string().min(1), COMMAND], REPOS), REPOS).default([]),
      start_dependents_on: START.optional(),
      on_conflict: ON_CONFLICT.optional(),
      on_stale: ON_STALE.optional(),
      on_approve: z.enum(MERGES, REPOS).optional(),
      target: z.string(REPOS).min(1, REPOS).optional(),
      worker: z.boolean(REPOS).default(false),
    },
    REPOS,
  )
  // These stand for something else in the addresses of the default repository.
  .refine((one) => one.name !== "tasks" && one.name !== "events", {
    error: "a list in which no repository is called tasks or events",
  })
  .refine((one) => one.worker !== (one.path !== undefined), {
    error: "a list in which each repository has either a path here or worker: true",
  })
  .refine((one) => (one.on_approve === undefined) === (one.target === undefined), {
    error: "a list in which on_approve and target stand together",
  });

/** The blocks of Agent Assignment (docs/spec/assignment.md). */
export const ASSIGNMENT_SETTINGS = {
  assignment: z.object({
    serverName: setting(text("a name").optional(), "What this server calls itself to programs that send it tasks.", {
      example: "Parley on studio",
    }),
    corsOrigins: setting(
      listOf(text("an origin").refine(isOrigin, { error: "an origin such as https://app.example.com" })).default([]),
      "Pages of other origins that may send tasks, with a key.",
    ),
    promptPad: setting(
      text("an origin")
        .refine((url) => isOrigin(url) && /^[\w.:[\]-]+$/.test(new URL(url).host), {
          error: "an origin such as https://prompt-pad.danmercer.net",
        })
        .transform((url) => new URL(url).origin)
        .default("https://prompt-pad.danmercer.net"),
      "The Prompt Pad that /embed/prompt-pad.html frames, and takes prompts from.",
    ),
    sandbox: setting(
      z.enum(["auto", "require", "off"], { error: "auto, require or off" }).default("auto"),
      "Whether agents run in bubblewrap: auto where it works, require or nothing starts, off never.",
    ),
    egress: setting(
      listOf(text("a host name, with *. for any below it, and if need be a port")).default([]),
      "Hosts that agents in the sandbox may reach beside those of their models.",
    ),
    parallel: setting(whole(1, 64).default(4), "Agents at work at one time, in all repositories."),
    branchPrefix: setting(
      z
        .string({ error: "a name that ends with a slash, such as aa/" })
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/$/, { error: "a name that ends with a slash, such as aa/" })
        .default("aa/"),
      "What the names of branches with finished work begin with.",
    ),
    committer: setting(person("Parley <parley@localhost>"), "Committer of finished work."),
    author: setting(person("Parley <parley@localhost>"), "Author of finished work."),
    secrets: setting(
      z.enum(["warn", "reject"], { error: "warn or reject" }).default("warn"),
      "What happens to a prompt that holds a secret; it becomes part of a commit message.",
    ),
    askDeadlineS: setting(
      whole(60, 2_592_000).default(2_592_000),
      "How long agents wait for people, in seconds; then the answer is no.",
    ),
    startDependentsOn: setting(
      START.default("completed"),
      "When tasks start that depend on another: when its commit exists, or when a person has approved it.",
    ),
    onConflict: setting(
      ON_CONFLICT.default("ask"),
      "Dependencies that do not merge: a person is asked, or the agent resolves it.",
    ),
    onStale: setting(
      ON_STALE.default("mark"),
      "Tasks whose dependency has a new commit: they are marked, or queued again.",
    ),
    workMinutes: setting(whole(1, 10_080).default(60), "Longest work of one attempt; waiting for people not counted."),
    silentMinutes: setting(whole(1, 10_080).default(10), "Longest time without a word from an agent at work."),
    turns: setting(whole(1, 100_000).default(200), "Most turns of one attempt."),
    maxBudgetUsd: setting(
      z.number(USD).positive(USD).optional(),
      "Most that one attempt may cost, where its agent can keep to it, in USD.",
      { example: "5" },
    ),
    keepTreesH: setting(
      whole(1, 8760).default(72),
      "How long the tree of finished work waits for its review, in hours; then only the commit is left.",
    ),
    workDir: setting(
      text("a folder").optional(),
      "Folder for stores, trees and logs; in the data folder if left out.",
      {
        example: "~/.local/share/parley/workshop",
      },
    ),
  }),
  repos: setting(
    z
      .array(Repo, REPOS)
      .refine((all) => new Set(all.map((one) => one.name)).size === all.length, {
        error: "a list of repositories of different names",
      })
      .refine((all) => all.filter((one) => one.default).length <= 1, {
        error: "a list in which one repository at most is the default",
      })
      .default([]),
    "Repositories in which agents may be given work; without any, Agent Assignment is off.",
  ),
  agents: setting(
    z
      .record(
        z.string(AGENTS).regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, AGENTS),
        z.strictObject(
          {
            type: z.enum(["claude", "codex", "acp", "command"], AGENTS).optional(),
            command: z.array(z.string(AGENTS).min(1, AGENTS), AGENTS).min(1, AGENTS).optional(),
            pass_env: z.array(VARIABLE, AGENTS).optional(),
            key_proxy: z.boolean(AGENTS).default(false),
          },
          AGENTS,
        ),
        AGENTS,
      )
      .refine((all) => Object.entries(all).every(([name, one]) => withUsual(name, one) !== null), AGENTS)
      .default({}),
    "Coding agents by name, beside claude, codex, gemini and opencode, which need no entry where they are installed.",
  ),
};

type RepoSettings = z.infer<typeof Repo>;
type AgentEntry = z.infer<typeof ASSIGNMENT_SETTINGS.agents>[string];
type Assignment = z.infer<typeof ASSIGNMENT_SETTINGS.assignment>;

function repoRulesOf(repo: RepoSettings, all: Assignment, isDefault: boolean): RepoRules {
  return {
    name: repo.name,
    path: repo.path ?? null,
    base: repo.base,
    agent: repo.agent,
    isDefault,
    parallel: repo.parallel,
    setup: repo.setup ?? null,
    allowCommands: repo.allow_commands.map((one) => (typeof one === "string" ? one.trim().split(/\s+/) : one)),
    startOn: repo.start_dependents_on ?? all.startDependentsOn,
    onConflict: repo.on_conflict ?? all.onConflict,
    onStale: repo.on_stale ?? all.onStale,
    onApprove: repo.on_approve && repo.target ? { how: repo.on_approve, target: repo.target } : null,
  };
}

/** Agents that need no entry; what an entry under the same name says takes the place of what is usual. */
const USUAL_AGENTS: Readonly<Record<string, Agent>> = {
  claude: { type: "claude", pass_env: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"] },
  codex: { type: "codex", pass_env: ["OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"] },
  gemini: { type: "acp", command: ["gemini", "--acp"], pass_env: ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"] },
  opencode: { type: "acp", command: ["opencode", "acp"], pass_env: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"] },
};

interface Agent {
  type: AgentRules["type"];
  command?: readonly string[] | undefined;
  pass_env?: readonly string[] | undefined;
}

/**
 * Returns an agent as an entry of the settings has it; what the entry leaves out is as usual for an agent of this name.
 * Null where that does not say how to start it.
 */
function withUsual(name: string, entry: Partial<Agent>): Agent | null {
  const usual = Object.hasOwn(USUAL_AGENTS, name) ? USUAL_AGENTS[name] : undefined;
  const type = entry.type ?? usual?.type;
  if (type === undefined) return null;
  const command = entry.command ?? (type === usual?.type ? usual.command : undefined);
  if (command === undefined && type !== "claude" && type !== "codex") return null;
  return { type, command, pass_env: entry.pass_env ?? usual?.pass_env };
}

/** Returns the rules of Agent Assignment that follow from its settings. */
export function assignmentRulesOf(
  settings: { assignment: Assignment; repos: readonly RepoSettings[]; agents: Readonly<Record<string, AgentEntry>> },
  dataDir: string,
): AssignmentRules {
  const { assignment: all, repos, agents } = settings;
  const named = repos.findIndex((one) => one.default);
  return {
    ...all,
    workDir: all.workDir ?? `${dataDir}/workshop`,
    repos: repos.map((one, i) => repoRulesOf(one, all, i === Math.max(0, named))),
    agents: [...new Set([...Object.keys(USUAL_AGENTS), ...Object.keys(agents)])].flatMap((name) => {
      const agent = withUsual(name, agents[name] ?? {});
      if (!agent) return [];
      const { type, command = [type], pass_env: passEnv = [] } = agent;
      return [
        { name, type, command, flavour: flavourOf(command), passEnv, keyProxy: agents[name]?.key_proxy === true },
      ];
    }),
  };
}

function flavourOf(command: readonly string[]): "gemini" | "opencode" | "other" {
  const program = command[0]?.split("/").at(-1);
  return program === "gemini" || program === "opencode" ? program : "other";
}
