import { useState } from "preact/hooks";
import { NoteForm } from "../agent-notes/form.tsx";
import { text } from "../agent-notes/text.ts";
import { Dialog } from "../parts/dialog.tsx";
import { queries } from "../query/query.ts";
import { inbox } from "./api.ts";
import handOnStyles from "./hand-on.module.css";
import { refresh } from "./queries.ts";
import type { WholeAsk } from "./wire.ts";

/** Sends a note to the agent of a waiting ask, which reads notes while it works. */
export function NoteToAgent({ ask }: { ask: WholeAsk }) {
  const [isOpen, setOpen] = useState(false);
  const send = async (words: string): Promise<void> => {
    queries.setQueryData(["ask", ask.id], { ...ask, ...(await inbox.note(ask.id, words)) });
    refresh(ask.id);
  };
  return (
    <>
      <button type="button" class={`quiet ${handOnStyles.button}`} onClick={() => setOpen(true)}>
        {text.open}
      </button>
      <Dialog title={text.title(ask.agent)} open={isOpen} onClose={() => setOpen(false)}>
        {isOpen && <NoteForm send={send} onDone={() => setOpen(false)} />}
      </Dialog>
    </>
  );
}
