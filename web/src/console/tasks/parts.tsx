import type { Task } from "@parley/sdk/tasks";
import { Link } from "../../router.tsx";
import { ServerSays } from "../parts.tsx";
import { taskHref } from "./api.ts";
import { text } from "./text.ts";
import taskStyles from "./tasks.module.css";

/** Shown for as long as it is so. */
export function SandboxNotice({ says }: { says: string | null | undefined }) {
  if (!says) return null;
  return (
    <p class={taskStyles.notice} role="note">
      <ServerSays words={says} />
    </p>
  );
}

/** The tasks that a task builds on, and how far they are. */
export function After({ task, all }: { task: Task; all: readonly Task[] }) {
  if (task.dependencies.length === 0) return null;
  return (
    <p class={taskStyles.after}>
      {text.after}{" "}
      {task.dependencies.map((id, at) => {
        const found = all.find((one) => one.repo === task.repo && one.id === id);
        const says = text.dependency(id, found?.state);
        return (
          <span key={id}>
            {at > 0 && ", "}
            {found ? <Link href={taskHref(task.repo, id)}>{says}</Link> : says}
          </span>
        );
      })}
    </p>
  );
}
