import type { AgentNotes } from "@parley/sdk/inbox";
import type { WholeTask } from "@parley/sdk/tasks";
import { NoteForm } from "../../agent-notes/form.tsx";
import { text } from "../../agent-notes/text.ts";
import { NoteThread } from "../../agent-notes/thread.tsx";
import { connection } from "../api.ts";
import { Section } from "../parts.tsx";
import { refreshTasks, taskPath } from "./api.ts";

/** The notes to the agent that works on a task, and the form of another as long as somebody works on it. */
export function TaskNotes({ task, isOver }: { task: WholeTask; isOver: boolean }) {
  const { repo, id, notes } = task;
  if (isOver && notes.length === 0) return null;
  const send = async (words: string): Promise<void> => {
    await connection.call<AgentNotes>("POST", `${taskPath(repo, id)}/notes`, { body: { text: words } });
    await refreshTasks();
  };
  return (
    <Section title={text.thread}>
      {notes.length > 0 && <NoteThread notes={notes} />}
      {!isOver && <NoteForm send={send} />}
    </Section>
  );
}
