import { AGENTS } from "../connect/registry.ts";
import { camelCase, type CamelCase } from "./arguments.ts";
import type { Command, Commands, Listed } from "./command.ts";

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

/** Lists commands of one file, which exports each under its name in camel case. */
function from<const T extends Readonly<Record<string, string>>>(
  load: () => Promise<Readonly<Record<CamelCase<keyof T & string>, Command>>>,
  commands: T,
): Readonly<Record<string, Listed>> {
  const listed = Object.entries(commands).map(([name, does]) => {
    return [name, { does, load: async () => (await load())[camelCase(name as keyof T & string)] }] as const;
  });
  return Object.fromEntries(listed);
}

/** Every command, in the groups in which they are listed. */
export const COMMAND_GROUPS: Readonly<Record<string, Readonly<Record<string, Listed>>>> = {
  "Run the server": {
    ...from(() => import("./serve/serve.ts"), { serve: "run the server" }),
    ...from(() => import("./serve/stop.ts"), {
      stop: "stop the server of this data directory; coding agents at work go on, and are taken up by the next one",
    }),
    ...from(() => import("./doctor/doctor.ts"), {
      doctor: "check that the store keeps its promises, or with --client that agents can ask and wait; repairs nothing",
    }),
    ...from(() => import("./config-check.ts"), {
      "config check": "say whether a server would start on these settings, and where each of them comes from",
    }),
    ...from(() => import("./store/write-archive.ts"), {
      backup:
        "write the whole store into one file, from which parley restore makes it again, while servers run; SQLite and PostgreSQL",
    }),
    ...from(() => import("./store/read-archive.ts"), {
      restore:
        "make a store of what parley backup or export has written, on SQLite or PostgreSQL, and have the doctor look at it",
    }),
    ...from(() => import("./store/write-archive.ts"), {
      export: "the same as parley backup: every row and every file of jobs as lines of JSON",
    }),
    ...from(() => import("./store/read-archive.ts"), {
      import: "the same as parley restore: make a store of such a file, and have the doctor look at it",
    }),
    ...from(() => import("./store/restored.ts"), {
      restored: "list what the last restore holds, such as keys and messages, and put it back",
    }),
    ...from(() => import("./store/move.ts"), {
      move: "carry a store that no server runs on from SQLite to PostgreSQL, or into a folder of its own",
    }),
    completion: {
      does: "print what makes bash, zsh or fish complete commands and flags",
      load: async () => (await import("./completion.ts")).completionOf(COMMANDS),
    },
  },
  "Ask people": {
    ...from(() => import("./ask/ask.ts"), { ask: "ask people a question" }),
    ...from(() => import("./ask/asked.ts"), {
      check: "print how something stands that was asked, and what was answered",
      cancel: "end something that was asked; answers already given stay",
    }),
  },
  Answer: {
    ...from(() => import("./inbox/inbox.ts"), {
      inbox: "decide what agents ask of you by name: approve, reject, answer",
    }),
    ...from(() => import("./ask/answer.ts"), { answer: "answer what agents ask, from a terminal" }),
  },
  "Connect agents": {
    ...from(() => import("./connect/connect.ts"), {
      connect: "connect the agents of this computer with people; writes their hooks and MCP entries, and tries each",
    }),
    ...from(() => import("./connect/status.ts"), {
      "connect status": "say which agents of this computer go through Parley",
    }),
    ...from(() => import("./connect/disconnect.ts"), {
      disconnect: "take Parley out of the files of agents again; each is as it was before",
    }),
    ...from(() => import("./mcp/install.ts"), {
      "mcp install":
        "write Parley into a client's own configuration; shows the change first, and touches nothing else in the file",
      "mcp uninstall": "take Parley out of a client's own configuration again",
      "mcp config": "print what a client's configuration needs, with the address and the key of PARLEY_KEY",
    }),
    ...from(() => import("./mcp/mcp.ts"), {
      mcp: "speak MCP over standard input and output, for clients that start their servers themselves",
    }),
    ...from(() => import("./mcp/gate.ts"), {
      gate: "stand in front of an MCP server, and let its tools be called once people or a rule have approved it",
    }),
    ...from(() => import("./hook/install.ts"), {
      "hook install":
        "let people decide the permission prompts of Claude Code or another agent; shows the change first",
      "hook uninstall": "take Parley's hook out of an agent's configuration again",
    }),
    ...HOOKS,
    ...from(() => import("./channels/forward.ts"), {
      forward:
        "pass requests of this computer on to a server, with the key from PARLEY_KEY, for programs that can carry none",
    }),
    ...from(() => import("./jobs/roles.ts"), {
      "prompt executor": "print what to tell an executor about asking, for its own system prompt",
    }),
  },
  "Give agents work": {
    ...from(() => import("./tasks/assign.ts"), {
      assign: "give a coding agent work; one commit comes back, for a person to review",
    }),
    ...from(() => import("./tasks/task.ts"), {
      "task list": "list the tasks of a repository, the oldest first",
      "task show": "print all there is to know about a task",
      "task log": "print what happened to a task; with --follow also what happens, until it is done",
      "task open": "print where a task is reviewed, else where it is on the board, and its files while there are any",
      "task review": "say what becomes of finished work; the key in PARLEY_KEY must be a person's",
      "task retry": "submit a task again as it was; what runs of it is cancelled",
      "task cancel": "cancel a task; its agent is dead when this returns",
    }),
    ...from(() => import("./tasks/agents.ts"), {
      agents: "say which coding agents work here, and why the others do not",
    }),
    ...from(() => import("./tasks/work.ts"), { work: "run coding agents on this machine for a server elsewhere" }),
    ...from(() => import("./jobs/exec.ts"), {
      exec: "work on jobs: for each, run a command that ends it by how it exits",
    }),
  },
  "Let others in": {
    ...from(() => import("./people/link.ts"), {
      link: "print a link that signs a person in, once, within 30 minutes; admins arrive in the console, others in the inbox",
    }),
    ...from(() => import("./people/people.ts"), {
      "people add": "add somebody who can sign in, and print the number that names them everywhere",
      "people list": "list everybody who can sign in",
      "people remove":
        "retire somebody: sessions, links and keys of theirs end, and what only they were asked goes to who sees all",
    }),
    ...from(() => import("./people/data.ts"), {
      "people export": "write everything that is stored about somebody into a file",
      "people erase": "remove somebody's name and every address; what they decided stays, under a pseudonym",
    }),
    ...from(() => import("./people/keys.ts"), {
      "keys create": "make a key and print it, alone, this once",
      "keys list": "list every key, revoked ones too; never their text",
      "keys revoke": "make a key worthless from the next request on",
    }),
    ...from(() => import("./store/keys-rotate.ts"), {
      "keys rotate-installation":
        "give the store a new installation key while no server runs; what ends with the old one is said first",
    }),
  },
  "Reach people and programs": {
    ...from(() => import("./channels/channel.ts"), {
      "channel test": "have the running server send a test message to somebody, and say what became of it",
    }),
    ...from(() => import("./channels/slack.ts"), {
      "slack manifest": "print the manifest from which Slack makes the app that asks people",
    }),
    ...from(() => import("./channels/webhook.ts"), {
      "webhook list": "list where agents are told how their requests end",
      "webhook test":
        "have the running server tell an endpoint something that did not happen, and say what it answered",
    }),
  },
  "Stop agents": {
    ...from(() => import("./policy/freeze.ts"), {
      freeze: "allow nothing to an agent, a person's agents or all of them from now on; their deadlines stand still",
      thaw: "end that: deadlines go on with the time that was left, and what was approved before is handed out",
    }),
  },
  "Decide without asking": {
    ...from(() => import("./policy/policy.ts"), {
      "policy test":
        "say what a policy file would decide, or check it against written cases; permanent permissions do not count",
      "policy explain": "say in words what would be decided and why; without FILE permanent permissions count too",
      "policy lint": "check a policy file, and name rules that can never win or ask somebody who is not there",
    }),
    ...from(() => import("./policy/replay.ts"), {
      "policy replay":
        "say how a policy file would decide the calls of the last days, and what people decided otherwise",
    }),
    ...from(() => import("./policy/suggest.ts"), {
      "policy suggest": "print rules that would allow what people approved again and again; nothing of it counts yet",
    }),
    ...from(() => import("./policy/import.ts"), {
      "policy import":
        "print the allow and deny lists of an agent's own settings as rules, and what cannot be carried over",
    }),
    ...from(() => import("./policy/store.ts"), {
      "policy show":
        "show rules, what is allowed for good and what is proposed, with the questions each has spared people",
      "policy reload": "have every server read its policy file again within a second",
      "policy accept": "put a proposed rule in force on every server",
      "policy dismiss": "dismiss a proposed rule; the same is never proposed again",
      "policy revoke": "end what somebody allowed for good, or take a learned rule out of force, on every server",
    }),
    ...from(() => import("./jobs/cache.ts"), {
      "cache clear": "forget the decisions that are repeated instead of asking again: all, or those of one role",
    }),
    ...from(() => import("./jobs/roles.ts"), {
      "roles list": "list the roles that a model may be given",
      "roles show": "show a role: its highest version, or the one that is named",
      "roles test": "try the examples and the recorded cases of roles, without a model",
      "roles check": "list the files of roles that cannot be used, and why",
    }),
    ...from(() => import("./mcp/tools.ts"), {
      "tools list": "list the tools that models were offered, and what has changed about them",
      "tools accept": "offer a tool again that has changed, as it is now",
    }),
  },
  "Prove what was decided": {
    ...from(() => import("./store/record.ts"), {
      record: "print what the record says of something people were asked, also when the ask itself is long deleted",
    }),
    ...from(() => import("./receipts/verify.ts"), {
      verify: "check an approval's receipt, and that it approves exactly this call",
    }),
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
