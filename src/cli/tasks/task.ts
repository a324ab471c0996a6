import type { TaskEvent } from "@parley/sdk/tasks";
import { printable } from "../../lib/printable.ts";
import { endedWell, followToEnd } from "./assign.ts";
import { type Arguments, type Takes, WrongUsage } from "../arguments.ts";
import { type Command, command, EXIT, type Io } from "../command.ts";
import { print } from "../print.ts";
import { followTask } from "./follow.ts";
import { openTasks, TASK_FLAGS, type Tasks } from "./requests.ts";
import { eventLines, resultLines, standText, taskRows, wholeTaskLines } from "./view.ts";

export const taskList = command({
  takes: TASK_FLAGS,
  example: "parley task list --repo shop",
  async run({ json, ...place }, io) {
    const { tasks } = await openTasks(place, io).list();
    if (!json && tasks.length === 0) io.tell("No task was given yet.");
    return print(json, tasks, tasks.length === 0 ? [] : taskRows(tasks), io);
  },
});

/** A command about one task, named by its id. */
function onTask<const T extends Takes>(
  more: T,
  example: string,
  act: (tasks: Tasks, given: Arguments<{ ID: "" } & T & typeof TASK_FLAGS>, io: Io) => Promise<number>,
): Command {
  const takes = { ID: "", ...more, ...TASK_FLAGS };
  return command({ takes, example, run: (given, io) => act(openTasks(given, io), given, io) });
}

export const taskShow = onTask({}, "parley task show card-1", async (tasks, { id, json }, io) => {
  const task = await tasks.read(id);
  return print(json, task, wholeTaskLines(task, tasks.boardOf(task)), io);
});

export const taskOpen = onTask({}, "parley task open card-1", async (tasks, { id, json }, io) => {
  const { reviewUrl, tree, ...task } = await tasks.read(id);
  const url = reviewUrl ?? tasks.boardOf(task);
  print(json, { url, ...(tree && { tree: tree.path }) }, [url], io);
  if (!json && tree) io.tell(`Its files are in ${printable(tree.path)}`);
  return EXIT.done;
});

export const taskCancel = onTask({}, "parley task cancel card-1", async (tasks, { id, json }, io) => {
  const task = await tasks.cancel(id);
  return print(json, task, [`${printable(task.id)}: ${standText(task)}`], io);
});

export const taskLog = onTask(
  { "--follow": "stay until the task is done; exit 1 when it did not work out" },
  "parley task log card-1 --follow",
  async (tasks, { id, follow, json }, io) => {
    const show = (event: TaskEvent) => void print(json, event, eventLines(event), io);
    if (!follow) {
      for (const event of await tasks.log(id)) show(event);
      return EXIT.done;
    }
    const ended = await followTask(tasks, id, { io, show });
    if (ended === null) return EXIT.interrupted;
    for (const line of resultLines(ended)) io.tell(line);
    return endedWell(ended) ? EXIT.done : EXIT.refused;
  },
);

export const taskRetry = onTask(
  { "--follow": "show what happens until it is done" },
  "parley task retry card-1 --follow",
  async (tasks, { id, follow, json }, io) => {
    const { prompt, dependencies, agent, base, startDependentsOn } = await tasks.read(id);
    const taken = await tasks.submit({ id, prompt, dependencies, agent, base, startDependentsOn });
    if (follow) return followToEnd(tasks, taken, { io, json });
    return print(json, taken, [`${printable(taken.id)}: ${standText(taken)}`], io);
  },
);

export const taskReview = onTask(
  {
    "--approve": { help: "take it; what waits for its approval starts", required: true },
    "--request-changes": { help: "have the agent go on with it, told your comments", or: true },
    "--reject": { help: "turn it down; its branch goes", or: true },
    "--comment WORDS": "what to say about the whole",
    "--line PATH:LINE:TEXT...": {
      help: "what to say about a line, by its number after the change; give it several times",
      read: lineComment,
    },
  },
  'parley task review card-1 --request-changes --line "src/vat.ts:12:round half to even"',
  async (tasks, { id, approve, reject, comment, line: comments, json }, io) => {
    const { attempt } = await tasks.read(id);
    const verdict = approve ? "approve" : reject ? "reject" : "request_changes";
    const task = await tasks.review(id, { verdict, attempt, comment, comments });
    return print(json, task, [`${printable(task.id)}: ${standText(task)}`], io);
  },
);

function lineComment(given: string): { path: string; line: number; text: string } {
  const [, path = "", line = "", text = ""] = /^(.+?):(\d+):([^]+)$/.exec(given) ?? [];
  if (path === "") throw new WrongUsage("--line is PATH:LINE:TEXT, such as src/vat.ts:12:round half to even");
  return { path, line: Number(line), text: text.trim() };
}
