import { useState } from "preact/hooks";
import { draftsOfAuthor } from "./author.ts";
import { recall, remember } from "./device.ts";

/** An answer that somebody has begun. */
export interface Draft {
  answer?: string;
  selected_option?: number;
  confidence?: number;
}

const nameOf = (questionId: string): string => `${draftsOfAuthor()}${questionId}`;

export function readDraft(questionId: string): Draft {
  try {
    return JSON.parse(recall(nameOf(questionId)) ?? "{}") as Draft;
  } catch {
    return {};
  }
}

/** The draft is kept until it is sent or emptied. */
export function keepDraft(questionId: string, draft: Draft): void {
  const empty = !draft.answer && draft.selected_option === undefined && draft.confidence === undefined;
  remember(nameOf(questionId), empty ? null : JSON.stringify(draft));
}

export function dropDraft(questionId: string): void {
  remember(nameOf(questionId), null);
}

/** The draft of a question and how to change it; it is kept across reloads until it is sent. */
export function useDraft(questionId: string): [Draft, (part: Draft) => void] {
  const [draft, setDraft] = useState<Draft>(() => readDraft(questionId));
  const change = (part: Draft): void => {
    const changed = { ...draft, ...part };
    setDraft(changed);
    keepDraft(questionId, changed);
  };
  return [draft, change];
}
