import { useState } from "preact/hooks";
import { explain } from "../inbox/decide.ts";
import handOnStyles from "../inbox/hand-on.module.css";
import { announce } from "../parts/announcer.tsx";
import { text } from "./text.ts";

const LONGEST_NOTE = 1000;

/** The form of a note to an agent at work. Words that could not be sent stay in it. */
export function NoteForm({ send, onDone }: { send: (words: string) => Promise<void>; onDone?: () => void }) {
  const [words, setWords] = useState("");
  const [failed, setFailed] = useState<string>();
  const [sending, setSending] = useState(false);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (sending || words.trim() === "") return;
    setSending(true);
    setFailed(undefined);
    try {
      await send(words);
      announce(text.done);
      setWords("");
      onDone?.();
    } catch (error) {
      setFailed(explain(error).says);
    }
    setSending(false);
  };

  return (
    <form class={handOnStyles.form} aria-busy={sending} onSubmit={(event) => void submit(event)}>
      <label class={handOnStyles.field}>
        {text.words}
        <small class="muted">{text.lead}</small>
        <textarea
          rows={3}
          maxLength={LONGEST_NOTE}
          dir="auto"
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      </label>
      {failed !== undefined && (
        <p role="alert" dir="auto">
          {failed}
        </p>
      )}
      <button type="submit" class="primary" disabled={words.trim() === ""}>
        {text.send}
      </button>
    </form>
  );
}
