import { text as readStream } from "node:stream/consumers";
import { newKey } from "@parley/sdk/idempotency-key";
import type { NewTask, Task } from "@parley/sdk/tasks";
import { printable } from "../../lib/printable.ts";
import { WrongUsage } from "../arguments.ts";
import { command, EXIT, type Io } from "../command.ts";
import { print } from "../print.ts";
import { listed } from "../values.ts";
import { followTask } from "./follow.ts";
import { isOver, openTasks, TASK_FLAGS, type Tasks } from "./requests.ts";
import { eventLines, resultLines, standText } from "./view.ts";

const NEW_ID_LENGTH = 12;

export const assign = command({
  takes: {
    PROMPT: "what to do; - reads it from standard input",
    "--after A,B...": {
      help: "tasks whose commits this one builds on; it starts when they are done",
      wire: ["dependencies"],
    },
    "--agent X": "which agent does it; left out, the repository's usual one",
    "--id ID": "what the task is called; an id that is known already is cancelled and begun anew",
    "--base REF": "the commit or branch to start from; left out, what the repository's settings say",
    "--follow": "show what happens until it is done, then commit, branch and size; exit 1 when it did not work out",
    ...TASK_FLAGS,
  },
  example: 'parley assign "Add VAT to the export" --repo shop --follow',
  async run({ prompt, after, agent, id, base, follow, ...flags }, io) {
    const task: NewTask = {
      id: id ?? newKey().slice(0, NEW_ID_LENGTH),
      prompt: await promptFrom(prompt),
      dependencies: after && listed(after).filter((name) => name !== ""),
      agent,
      base,
    };
    const tasks = openTasks(flags, io);
    const taken = await tasks.submit(task);
    for (const warning of taken.warnings ?? []) io.tell(`Warning: ${printable(warning)}`);
    if (!follow) {
      print(flags.json, taken, [printable(taken.id)], io);
      io.tell(`${standText(taken)}; see it at ${tasks.boardOf(taken)}`);
      return EXIT.done;
    }
    io.tell(`${printable(taken.id)} at ${tasks.boardOf(taken)}`);
    return followToEnd(tasks, taken, { io, json: flags.json });
  },
});

/** Shows what happens to a task that was just submitted, and at its end what came of it. */
export async function followToEnd(tasks: Tasks, task: Task, { io, json }: { io: Io; json: boolean }): Promise<number> {
  // An id may have been used before; that is another story.
  const show = (event: Parameters<typeof eventLines>[0]): void => {
    if (Date.parse(event.at) < Date.parse(task.submittedAt)) return;
    for (const line of eventLines(event)) io.tell(line);
  };
  const ended = await followTask(tasks, task.id, { io, show });
  if (ended === null) {
    io.tell(`The task goes on; see it again with: parley task log ${printable(task.id)} --follow`);
    return EXIT.interrupted;
  }
  print(json, ended, resultLines(ended), io);
  if (ended.reviewUrl !== undefined && ended.state === "review") io.tell(`Review it at ${ended.reviewUrl}`);
  return endedWell(ended) ? EXIT.done : EXIT.refused;
}

/** Returns whether a task has a commit that nobody turned down. */
export const endedWell = (task: Task): boolean => !isOver(task) || task.state === "review" || task.state === "approved";

async function promptFrom(given: string): Promise<string> {
  if (given !== "-") return given;
  const read = await readStream(process.stdin);
  if (read.trim() === "") throw new WrongUsage("standard input holds no prompt");
  return read;
}
