import type { Task, TaskEvent, WholeTask } from "@parley/sdk/tasks";
import { systemClock } from "../../lib/clock.ts";
import { clockText } from "../../lib/duration.ts";
import { printable } from "../../lib/printable.ts";
import type { Io } from "../command.ts";
import { withLiveLine } from "../live-line.ts";
import { isOver, type Tasks } from "./requests.ts";
import { standText } from "./view.ts";

/**
 * Shows the past and new events of a task until only a person can move it. Returns the task at that time, or null when
 * interrupted. A question to people is shown with the address where they answer.
 */
export async function followTask(
  tasks: Tasks,
  id: string,
  { io, show }: { io: Io; show: (event: TaskEvent) => void },
): Promise<WholeTask | null> {
  const start = systemClock.monotonic();
  let latest: Task | undefined;
  let shownUrl: string | undefined;
  const look = async (): Promise<WholeTask> => {
    const task = await tasks.read(id);
    latest = task;
    const { question, state, reviewUrl, blockedReason: summary = "its dependencies do not merge" } = task;
    const asks = question ?? (state === "conflict" && reviewUrl !== undefined ? { summary, url: reviewUrl } : null);
    if (asks && asks.url !== shownUrl) {
      shownUrl = asks.url;
      io.progress("");
      io.tell(`A person is asked: ${printable(asks.summary)}`);
      io.tell(`  ${printable(asks.url)}`);
    }
    return task;
  };
  const line = () => latest && `${standText(latest)} (${clockText(systemClock.monotonic() - start)})`;
  return withLiveLine(io, line, async () => {
    await look();
    for await (const event of tasks.events(id)) {
      io.progress("");
      // Where the log was cut there is nothing to show of it.
      if (event["reset"] !== true) show(event);
      if (!["state", "question", "permission"].includes(event.type)) continue;
      const task = await look();
      if (isOver(task) && event.type === "state" && event["state"] === task.state) return task;
    }
    return look();
  });
}
