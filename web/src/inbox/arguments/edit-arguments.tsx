import type { RefObject } from "preact";
import type { AskDraft } from "../draft.ts";
import styles from "../ask.module.css";
import type { Problem } from "./schema.ts";
import { text } from "../text.ts";
import type { WholeAsk } from "../wire.ts";

/** The arguments somebody wrote in place of the agent's, or null where they are the same, and what is wrong with them. */
export interface Edited {
  text: string | null;
  problem: string | null;
}

export function editedArguments(ask: WholeAsk, draft: AskDraft): Edited {
  const written = draft.kwargs;
  if (!ask.editable || written === undefined || written === ask.kwargs) return { text: null, problem: null };
  try {
    const value = JSON.parse(written) as unknown;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return { text: written, problem: isObject ? null : text.form.notJson };
  } catch {
    return { text: written, problem: text.form.notJson };
  }
}

/** The arguments as JSON, to be changed before they are approved; they are sent as text, so that every digit stays. */
export function EditArguments(props: {
  ask: WholeAsk;
  draft: AskDraft;
  problems: readonly Problem[];
  onChange: (part: AskDraft) => void;
  /** The element that is shown to a person who wants to edit. */
  element: RefObject<HTMLDetailsElement | null>;
}) {
  const { ask, draft, problems, onChange, element } = props;
  const proposed = ask.kwargs ?? "{}";
  const written = draft.kwargs ?? proposed;
  const isChanged = written !== proposed;
  return (
    <details ref={element} class={styles.edit} open={isChanged}>
      <summary>
        {text.edit}
        {isChanged && <span class={styles.changed}>{text.edited}</span>}
      </summary>
      <p class="muted small" id="edit-lead">
        {text.editLead}
      </p>
      <label for="kwargs">{text.editAsJson}</label>
      <textarea
        id="kwargs"
        dir="ltr"
        class={styles.code}
        rows={Math.min(20, written.split("\n").length + 1)}
        spellcheck={false}
        autoComplete="off"
        value={written}
        aria-invalid={problems.length > 0}
        aria-describedby={problems.length > 0 ? "edit-lead edit-wrong" : "edit-lead"}
        onInput={({ currentTarget: { value } }) => onChange({ kwargs: value === proposed ? undefined : value })}
      />
      {problems.length > 0 && (
        <ul id="edit-wrong" class={styles.wrong}>
          {problems.map(({ path, message }) => (
            <li key={path + message}>
              {path} {message}
            </li>
          ))}
        </ul>
      )}
      {isChanged && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            onChange({ kwargs: undefined });
            // The button goes with what was changed.
            element.current?.querySelector("summary")?.focus();
          }}
        >
          {text.restore}
        </button>
      )}
    </details>
  );
}
