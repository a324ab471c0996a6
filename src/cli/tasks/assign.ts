import { text as readStream } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { newKey } from "@parley/sdk/idempotency-key";
import type { NewTask, Task } from "@parley/sdk/tasks";
import { printable, printableJson } from "../../lib/printable.ts";
import { type Command, CLIENT_FLAGS, EXIT, type Io, onlyArgument, WrongUsage } from "../command.ts";
import { CLIENT_OPTIONS, serverUrl } from "../server-client.ts";
import { followTask } from "./follow.ts";
import { isOver, openTasks, type Tasks } from "./requests.ts";
import { eventLines, resultLines, standText } from "./view.ts";

const NEW_ID_LENGTH = 12;

export const TASK_FLAGS = {
  "--repo R": "the repository by its name; left out, the server's default",
  ...CLIENT_FLAGS,
} as const;
export const TASK_OPTIONS = { ...CLIENT_OPTIONS, repo: { type: "string" } } as const;

export const assign: Command = {
  usage: "PROMPT [--repo R] [--after A,B] [--agent X] [--id ID] [--base REF] [--follow] [--json]",
  flags: {
    PROMPT: "what to do; - reads it from standard input",
    "--after A,B": "tasks whose commits this one builds on; it starts when they are done",
    "--agent X": "which agent does it; left out, the repository's usual one",
    "--id ID": "what the task is called; an id that is known already is cancelled and begun anew",
    "--base REF": "the commit or branch to start from; left out, what the repository's settings say",
    "--follow": "show what happens until it is done, then commit, branch and size; exit 1 when it did not work out",
    ...TASK_FLAGS,
  },
  wireNames: { dependencies: "--after" },
  example: 'parley assign "Add VAT to the export" --repo shop --follow',
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...TASK_OPTIONS,
        after: { type: "string", multiple: true },
        agent: { type: "string" },
        id: { type: "string" },
        base: { type: "string" },
        follow: { type: "boolean" },
      },
    });
    const prompt = await promptOf(onlyArgument(positionals, "PROMPT"));
    const task: NewTask = {
      id: values.id ?? newKey().slice(0, NEW_ID_LENGTH),
      prompt,
      ...(values.after && { dependencies: namesIn(values.after) }),
      ...(values.agent !== undefined && { agent: values.agent }),
      ...(values.base !== undefined && { base: values.base }),
    };
    const tasks = openTasks(serverUrl(values.url, io.env), values.repo, io);
    const taken = await tasks.submit(task);
    for (const warning of taken.warnings ?? []) io.tell(`Warning: ${printable(warning)}`);
    if (!values.follow) {
      io.out(values.json ? printableJson(JSON.stringify(taken)) : printable(taken.id));
      io.tell(`${standText(taken)}; see it at ${tasks.boardOf(taken)}`);
      return EXIT.done;
    }
    io.tell(`${printable(taken.id)} at ${tasks.boardOf(taken)}`);
    return followToEnd(tasks, taken, { io, json: values.json ?? false });
  },
};

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
  if (json) io.out(printableJson(JSON.stringify(ended)));
  else for (const line of resultLines(ended)) io.out(line);
  if (ended.reviewUrl !== undefined && ended.state === "review") io.tell(`Review it at ${ended.reviewUrl}`);
  return endedWell(ended) ? EXIT.done : EXIT.refused;
}

/** Returns whether a task has a commit that nobody turned down. */
export const endedWell = (task: Task): boolean => !isOver(task) || task.state === "review" || task.state === "approved";

async function promptOf(given: string): Promise<string> {
  if (given !== "-") return given;
  const read = await readStream(process.stdin);
  if (read.trim() === "") throw new WrongUsage("standard input holds no prompt");
  return read;
}

function namesIn(given: readonly string[]): string[] {
  const names = given.length === 1 ? (given[0] ?? "").split(",") : given;
  return names.map((name) => name.trim()).filter((name) => name !== "");
}
