import { parseArgs } from "node:util";
import type { TaskEvent, TaskReview } from "@parley/sdk/tasks";
import { printable, printableJson } from "../../lib/printable.ts";
import { REVIEW_DECISIONS } from "../../tasks/model/task.ts";
import { endedWell, followToEnd, TASK_FLAGS, TASK_OPTIONS } from "./assign.ts";
import { type Command, EXIT, type Io, onlyArgument, WrongUsage } from "../command.ts";
import { serverUrl } from "../server-client.ts";
import { followTask } from "./follow.ts";
import { openTasks, type Tasks } from "./requests.ts";
import { eventLines, resultLines, standText, taskRows, wholeTaskLines } from "./view.ts";

interface TaskSession {
  io: Io;
  tasks: Tasks;
  json: boolean;
}

export const taskList: Command = {
  usage: "[--repo R] [--json]",
  flags: TASK_FLAGS,
  example: "parley task list --repo shop",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: TASK_OPTIONS });
    const { tasks } = await openTasks(serverUrl(values.url, io.env), values.repo, io).list();
    if (values.json) io.out(printableJson(JSON.stringify(tasks)));
    else if (tasks.length === 0) io.tell("No task was given yet.");
    else for (const line of taskRows(tasks)) io.out(line);
    return EXIT.done;
  },
};

/** A command about one task, named by its id. */
function onTask(example: string, act: (id: string, given: TaskSession) => Promise<number>): Command {
  return {
    usage: "ID [--repo R] [--json]",
    flags: TASK_FLAGS,
    example,
    async run(argv, io) {
      const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: TASK_OPTIONS });
      const id = onlyArgument(positionals, "ID");
      const tasks = openTasks(serverUrl(values.url, io.env), values.repo, io);
      return act(id, { io, tasks, json: values.json ?? false });
    },
  };
}

export const taskShow = onTask("parley task show card-1", async (id, { io, tasks, json }) => {
  const task = await tasks.read(id);
  for (const line of json ? [printableJson(JSON.stringify(task))] : wholeTaskLines(task, tasks.boardOf(task)))
    io.out(line);
  return EXIT.done;
});

export const taskOpen = onTask("parley task open card-1", async (id, { io, tasks, json }) => {
  const task = await tasks.read(id);
  const url = task.reviewUrl ?? tasks.boardOf(task);
  io.out(json ? printableJson(JSON.stringify({ url, ...(task.tree && { tree: task.tree.path }) })) : url);
  if (!json && task.tree) io.tell(`Its files are in ${printable(task.tree.path)}`);
  return EXIT.done;
});

export const taskCancel = onTask("parley task cancel card-1", async (id, { io, tasks, json }) => {
  const task = await tasks.cancel(id);
  io.out(json ? printableJson(JSON.stringify(task)) : `${printable(task.id)}: ${standText(task)}`);
  return EXIT.done;
});

export const taskLog: Command = {
  usage: "ID [--follow] [--repo R] [--json]",
  flags: { "--follow": "stay until the task is done; exit 1 when it did not work out", ...TASK_FLAGS },
  example: "parley task log card-1 --follow",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...TASK_OPTIONS, follow: { type: "boolean" } },
    });
    const id = onlyArgument(positionals, "ID");
    const tasks = openTasks(serverUrl(values.url, io.env), values.repo, io);
    const show = (event: TaskEvent): void => {
      for (const line of values.json ? [printableJson(JSON.stringify(event))] : eventLines(event)) io.out(line);
    };
    if (!values.follow) {
      for (const event of await tasks.log(id)) show(event);
      return EXIT.done;
    }
    const ended = await followTask(tasks, id, { io, show });
    if (ended === null) return EXIT.interrupted;
    for (const line of resultLines(ended)) io.tell(line);
    return endedWell(ended) ? EXIT.done : EXIT.refused;
  },
};

export const taskRetry: Command = {
  usage: "ID [--follow] [--repo R] [--json]",
  flags: { "--follow": "show what happens until it is done", ...TASK_FLAGS },
  example: "parley task retry card-1 --follow",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...TASK_OPTIONS, follow: { type: "boolean" } },
    });
    const id = onlyArgument(positionals, "ID");
    const tasks = openTasks(serverUrl(values.url, io.env), values.repo, io);
    const { prompt, dependencies, agent, base, startDependentsOn } = await tasks.read(id);
    const more = { ...(agent !== undefined && { agent }), ...(base !== undefined && { base }) };
    const taken = await tasks.submit({
      id,
      prompt,
      dependencies,
      ...more,
      ...(startDependentsOn !== undefined && { startDependentsOn }),
    });
    if (values.follow) return followToEnd(tasks, taken, { io, json: values.json ?? false });
    io.out(values.json ? printableJson(JSON.stringify(taken)) : `${printable(taken.id)}: ${standText(taken)}`);
    return EXIT.done;
  },
};

export const taskReview: Command = {
  usage: 'ID (--approve | --request-changes | --reject) [--comment "..."] [--line PATH:LINE:TEXT] [--repo R] [--json]',
  flags: {
    "--approve": "take it; what waits for its approval starts",
    "--request-changes": "have the agent go on with it, told your comments",
    "--reject": "turn it down; its branch goes",
    "--comment WORDS": "what to say about the whole",
    "--line PATH:LINE:TEXT": "what to say about a line, by its number after the change; give it several times",
    ...TASK_FLAGS,
  },
  example: 'parley task review card-1 --request-changes --line "src/vat.ts:12:round half to even"',
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...TASK_OPTIONS,
        approve: { type: "boolean" },
        "request-changes": { type: "boolean" },
        reject: { type: "boolean" },
        comment: { type: "string" },
        line: { type: "string", multiple: true },
      },
    });
    const id = onlyArgument(positionals, "ID");
    const given = REVIEW_DECISIONS.filter(
      (decision) => values[decision === "request_changes" ? "request-changes" : decision],
    );
    const [decision] = given;
    if (decision === undefined || given.length > 1) {
      throw new WrongUsage("give one of --approve, --request-changes, --reject");
    }
    const comments = values.line?.map(lineComment);
    const tasks = openTasks(serverUrl(values.url, io.env), values.repo, io);
    const { attempt } = await tasks.read(id);
    const review: TaskReview = {
      verdict: decision,
      attempt,
      ...(values.comment !== undefined && { comment: values.comment }),
      ...(comments && { comments }),
    };
    const task = await tasks.review(id, review);
    io.out(values.json ? printableJson(JSON.stringify(task)) : `${printable(task.id)}: ${standText(task)}`);
    return EXIT.done;
  },
};

function lineComment(given: string): { path: string; line: number; text: string } {
  const [, path = "", line = "", text = ""] = /^(.+?):(\d+):([^]+)$/.exec(given) ?? [];
  if (path === "") throw new WrongUsage("--line is PATH:LINE:TEXT, such as src/vat.ts:12:round half to even");
  return { path, line: Number(line), text: text.trim() };
}
