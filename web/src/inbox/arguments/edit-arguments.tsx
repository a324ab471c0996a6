import type { RefObject } from "preact";
import { later } from "../../parts/later.tsx";
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

/** It is the most of the code, and closed at first. */
const EditFields = later(async () => (await import("./edit-fields.tsx")).EditFields);

/** Opens the arguments to be changed, with the cursor in the first of them. */
export function openEditor(element: HTMLDetailsElement | null): void {
  if (!element) return;
  element.open = true;
  void EditFields.load().then(() =>
    requestAnimationFrame(() => element.querySelector<HTMLElement>("input, select, textarea")?.focus()),
  );
}

/** The arguments, to be changed before they are approved. */
export function EditArguments(props: {
  ask: WholeAsk;
  draft: AskDraft;
  problems: readonly Problem[];
  onChange: (part: AskDraft) => void;
  /** The element that is shown to a person who wants to edit. */
  element: RefObject<HTMLDetailsElement | null>;
}) {
  const { draft, element } = props;
  const isChanged = draft.kwargs !== undefined;
  return (
    <details ref={element} class={styles.edit} open={isChanged}>
      <summary>
        {text.edit}
        {isChanged && <span class={styles.changed}>{text.edited}</span>}
      </summary>
      <EditFields {...props} />
    </details>
  );
}
