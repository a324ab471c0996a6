import { AGENTS } from "../connect/registry.ts";
import type { Commands, Listed } from "./command.ts";

/** The commands that agents run themselves, one for each. */
const HOOKS: Readonly<Record<string, Listed>> = Object.fromEntries(
  Object.entries(AGENTS).map(([name, row]) => [
    `hook ${name}`,
    {
      does: `decide a hook of ${row.title}, read on standard input, by asking people; ${row.title} runs this`,
      load: async () => (await import("./hook/decide.ts")).hookOf(name, row),
    },
  ]),
);

/** Every command, in the groups in which they are listed. */
export const COMMAND_GROUPS: Readonly<Record<string, Readonly<Record<string, Listed>>>> = {
  "Run the server": {
    serve: {
      does: "run the server",
      load: async () => (await import("./serve/serve.ts")).serve,
    },
    stop: {
      does: "stop the server of this data directory; coding agents at work go on, and are taken up by the next one",
      load: async () => (await import("./serve/stop.ts")).stop,
    },
    doctor: {
      does: "check that the store keeps its promises, or with --client that agents can ask and wait; repairs nothing",
      load: async () => (await import("./doctor/doctor.ts")).doctor,
    },
    "config check": {
      does: "say whether a server would start on these settings, and where each of them comes from",
      load: async () => (await import("./config-check.ts")).configCheck,
    },
    backup: {
      does: "write the whole store into one file, from which parley restore makes it again, while servers run; SQLite and PostgreSQL",
      load: async () => (await import("./store/write-archive.ts")).backup,
    },
    restore: {
      does: "make a store of what parley backup or export has written, on SQLite or PostgreSQL, and have the doctor look at it",
      load: async () => (await import("./store/read-archive.ts")).restore,
    },
    export: {
      does: "the same as parley backup: every row and every file of jobs as lines of JSON",
      load: async () => (await import("./store/write-archive.ts")).exportCommand,
    },
    import: {
      does: "the same as parley restore: make a store of such a file, and have the doctor look at it",
      load: async () => (await import("./store/read-archive.ts")).importCommand,
    },
    restored: {
      does: "list what the last restore holds, such as keys and messages, and put it back",
      load: async () => (await import("./store/restored.ts")).restored,
    },
    move: {
      does: "carry a store that no server runs on from SQLite to PostgreSQL, or into a folder of its own",
      load: async () => (await import("./store/move.ts")).move,
    },
    completion: {
      does: "print what makes bash, zsh or fish complete commands and flags",
      load: async () => (await import("./completion.ts")).completionOf(COMMANDS),
    },
  },
  "Ask people": {
    ask: {
      does: "ask people a question",
      load: async () => (await import("./ask/ask.ts")).ask,
    },
    check: {
      does: "print how something stands that was asked, and what was answered",
      load: async () => (await import("./ask/asked.ts")).check,
    },
    cancel: {
      does: "end something that was asked; answers already given stay",
      load: async () => (await import("./ask/asked.ts")).cancel,
    },
  },
  Answer: {
    inbox: {
      does: "decide what agents ask of you by name: approve, reject, answer",
      load: async () => (await import("./inbox/inbox.ts")).inbox,
    },
    answer: {
      does: "answer what agents ask, from a terminal",
      load: async () => (await import("./ask/answer.ts")).answer,
    },
  },
  "Connect agents": {
    connect: {
      does: "connect the agents of this computer with people; writes their hooks and MCP entries, and tries each",
      load: async () => (await import("./connect/connect.ts")).connect,
    },
    "connect status": {
      does: "say which agents of this computer go through Parley",
      load: async () => (await import("./connect/status.ts")).connectStatus,
    },
    disconnect: {
      does: "take Parley out of the files of agents again; each is as it was before",
      load: async () => (await import("./connect/disconnect.ts")).disconnect,
    },
    "mcp install": {
      does: "write Parley into a client's own configuration; shows the change first, and touches nothing else in the file",
      load: async () => (await import("./mcp/install.ts")).mcpInstall,
    },
    "mcp uninstall": {
      does: "take Parley out of a client's own configuration again",
      load: async () => (await import("./mcp/install.ts")).mcpUninstall,
    },
    "mcp config": {
      does: "print what a client's configuration needs, with the address and the key of PARLEY_KEY",
      load: async () => (await import("./mcp/install.ts")).mcpConfig,
    },
    mcp: {
      does: "speak MCP over standard input and output, for clients that start their servers themselves",
      load: async () => (await import("./mcp/mcp.ts")).mcp,
    },
    gate: {
      does: "stand in front of an MCP server, and let its tools be called once people or a rule have approved it",
      load: async () => (await import("./mcp/gate.ts")).gate,
    },
    "hook install": {
      does: "let people decide the permission prompts of Claude Code or another agent; shows the change first",
      load: async () => (await import("./hook/install.ts")).hookInstall,
    },
    "hook uninstall": {
      does: "take Parley's hook out of an agent's configuration again",
      load: async () => (await import("./hook/install.ts")).hookUninstall,
    },
    ...HOOKS,
    forward: {
      does: "pass requests of this computer on to a server, with the key from PARLEY_KEY, for programs that can carry none",
      load: async () => (await import("./channels/forward.ts")).forward,
    },
    "prompt executor": {
      does: "print what to tell an executor about asking, for its own system prompt",
      load: async () => (await import("./jobs/roles.ts")).promptExecutor,
    },
  },
  "Give agents work": {
    assign: {
      does: "give a coding agent work; one commit comes back, for a person to review",
      load: async () => (await import("./tasks/assign.ts")).assign,
    },
    "task list": {
      does: "list the tasks of a repository, the oldest first",
      load: async () => (await import("./tasks/task.ts")).taskList,
    },
    "task show": {
      does: "print all there is to know about a task",
      load: async () => (await import("./tasks/task.ts")).taskShow,
    },
    "task log": {
      does: "print what happened to a task; with --follow also what happens, until it is done",
      load: async () => (await import("./tasks/task.ts")).taskLog,
    },
    "task open": {
      does: "print where a task is reviewed, else where it is on the board, and its files while there are any",
      load: async () => (await import("./tasks/task.ts")).taskOpen,
    },
    "task review": {
      does: "say what becomes of finished work; the key in PARLEY_KEY must be a person's",
      load: async () => (await import("./tasks/task.ts")).taskReview,
    },
    "task retry": {
      does: "submit a task again as it was; what runs of it is cancelled",
      load: async () => (await import("./tasks/task.ts")).taskRetry,
    },
    "task cancel": {
      does: "cancel a task; its agent is dead when this returns",
      load: async () => (await import("./tasks/task.ts")).taskCancel,
    },
    agents: {
      does: "say which coding agents work here, and why the others do not",
      load: async () => (await import("./tasks/agents.ts")).agents,
    },
    work: {
      does: "run coding agents on this machine for a server elsewhere",
      load: async () => (await import("./tasks/work.ts")).work,
    },
    exec: {
      does: "work on jobs: for each, run a command that ends it by how it exits",
      load: async () => (await import("./jobs/exec.ts")).exec,
    },
  },
  "Let others in": {
    link: {
      does: "print a link that signs a person in, once, within 30 minutes; admins arrive in the console, others in the inbox",
      load: async () => (await import("./people/link.ts")).link,
    },
    "people add": {
      does: "add somebody who can sign in, and print the number that names them everywhere",
      load: async () => (await import("./people/people.ts")).peopleAdd,
    },
    "people list": {
      does: "list everybody who can sign in",
      load: async () => (await import("./people/people.ts")).peopleList,
    },
    "people remove": {
      does: "retire somebody: sessions, links and keys of theirs end, and what only they were asked goes to who sees all",
      load: async () => (await import("./people/people.ts")).peopleRemove,
    },
    "people export": {
      does: "write everything that is stored about somebody into a file",
      load: async () => (await import("./people/data.ts")).peopleExport,
    },
    "people erase": {
      does: "remove somebody's name and every address; what they decided stays, under a pseudonym",
      load: async () => (await import("./people/data.ts")).peopleErase,
    },
    "keys create": {
      does: "make a key and print it, alone, this once",
      load: async () => (await import("./people/keys.ts")).keysCreate,
    },
    "keys list": {
      does: "list every key, revoked ones too; never their text",
      load: async () => (await import("./people/keys.ts")).keysList,
    },
    "keys revoke": {
      does: "make a key worthless from the next request on",
      load: async () => (await import("./people/keys.ts")).keysRevoke,
    },
    "keys rotate-installation": {
      does: "give the store a new installation key while no server runs; what ends with the old one is said first",
      load: async () => (await import("./store/keys-rotate.ts")).keysRotate,
    },
  },
  "Reach people and programs": {
    "channel test": {
      does: "have the running server send a test message to somebody, and say what became of it",
      load: async () => (await import("./channels/channel.ts")).channelTest,
    },
    "slack manifest": {
      does: "print the manifest from which Slack makes the app that asks people",
      load: async () => (await import("./channels/slack.ts")).slackManifest,
    },
    "webhook list": {
      does: "list where agents are told how their requests end",
      load: async () => (await import("./channels/webhook.ts")).webhookList,
    },
    "webhook test": {
      does: "have the running server tell an endpoint something that did not happen, and say what it answered",
      load: async () => (await import("./channels/webhook.ts")).webhookTest,
    },
  },
  "Decide without asking": {
    "policy test": {
      does: "say what a policy file would decide, or check it against written cases; permanent permissions do not count",
      load: async () => (await import("./policy/policy.ts")).policyTest,
    },
    "policy explain": {
      does: "say in words what would be decided and why; without FILE permanent permissions count too",
      load: async () => (await import("./policy/policy.ts")).policyExplain,
    },
    "policy lint": {
      does: "check a policy file, and name rules that can never win or ask somebody who is not there",
      load: async () => (await import("./policy/policy.ts")).policyLint,
    },
    "policy show": {
      does: "show rules, what is allowed for good and what is proposed, with the questions each has spared people",
      load: async () => (await import("./policy/store.ts")).policyShow,
    },
    "policy reload": {
      does: "have every server read its policy file again within a second",
      load: async () => (await import("./policy/store.ts")).policyReload,
    },
    "policy accept": {
      does: "put a proposed rule in force on every server",
      load: async () => (await import("./policy/store.ts")).policyAccept,
    },
    "policy dismiss": {
      does: "dismiss a proposed rule; the same is never proposed again",
      load: async () => (await import("./policy/store.ts")).policyDismiss,
    },
    "policy revoke": {
      does: "end what somebody allowed for good, or take a learned rule out of force, on every server",
      load: async () => (await import("./policy/store.ts")).policyRevoke,
    },
    "cache clear": {
      does: "forget the decisions that are repeated instead of asking again: all, or those of one role",
      load: async () => (await import("./jobs/cache.ts")).cacheClear,
    },
    "roles list": {
      does: "list the roles that a model may be given",
      load: async () => (await import("./jobs/roles.ts")).rolesList,
    },
    "roles show": {
      does: "show a role: its highest version, or the one that is named",
      load: async () => (await import("./jobs/roles.ts")).rolesShow,
    },
    "roles test": {
      does: "try the examples and the recorded cases of roles, without a model",
      load: async () => (await import("./jobs/roles.ts")).rolesTest,
    },
    "roles check": {
      does: "list the files of roles that cannot be used, and why",
      load: async () => (await import("./jobs/roles.ts")).rolesCheck,
    },
    "tools list": {
      does: "list the tools that models were offered, and what has changed about them",
      load: async () => (await import("./mcp/tools.ts")).toolsList,
    },
    "tools accept": {
      does: "offer a tool again that has changed, as it is now",
      load: async () => (await import("./mcp/tools.ts")).toolsAccept,
    },
  },
  "Prove what was decided": {
    record: {
      does: "print what the record says of something people were asked, also when the ask itself is long deleted",
      load: async () => (await import("./store/record.ts")).record,
    },
    verify: {
      does: "check an approval's receipt, and that it approves exactly this call",
      load: async () => (await import("./receipts/verify.ts")).verify,
    },
  },
};

/** Every command by its name. */
export const COMMANDS: Commands = new Map(Object.values(COMMAND_GROUPS).flatMap(Object.entries));

/** The commands that a newcomer needs first. */
export const FIRST_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "Start here": ["serve", "link", "doctor"],
  "Ask people": ["ask", "check"],
  "Answer what agents ask": ["inbox", "answer"],
  "Connect agents": ["connect", "mcp install", "assign"],
};

/** Words that people try, and the command that does what they mean by them. */
export const OTHER_WORDS: Readonly<Record<string, string>> = {
  approve: "inbox",
  reject: "inbox",
  run: "serve",
  start: "serve",
  status: "doctor",
  up: "serve",
};
