import type { Context } from "../context.ts";
import { transact } from "../core/store/transact.ts";
import { Refusal } from "../refusals.ts";
import { runOfTask } from "../requests/model/agent-note.ts";
import { cleanNoteOf, readsNotes, sendNoteIn } from "../requests/notes/send-note.ts";
import { isTaskOver, type Task } from "./model/task.ts";
import { lockTask } from "./store/tasks.ts";

/**
 * Sends a note of a person to the agent that works on a task; where none does, the next attempt reads it. The task goes
 * on as before (spec/a2h 26).
 *
 * @throws {Refusal} `task_not_found`, `task_over`, `reads_no_notes`, `note_limit`, `invalid_input`
 */
export async function noteTaskAgent(
  ctx: Context,
  { repo, id, person }: Pick<Task, "repo" | "id"> & { person: string },
  text: string,
): Promise<void> {
  const words = await cleanNoteOf(ctx, { requestId: null, person }, text);
  const refused = await transact(ctx, async (tx) => {
    const task = await lockTask(tx, repo, id);
    if (!task) throw new Refusal("task_not_found", { id });
    if (isTaskOver(task.state)) return new Refusal("task_over", { state: task.state });
    if (!readsNotes(ctx, task.agent)) return new Refusal("reads_no_notes");
    return sendNoteIn(ctx, tx, { ...runOfTask(repo, id), requestId: null, person }, words);
  });
  if (refused) throw refused;
}
