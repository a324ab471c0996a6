import { useState } from "preact/hooks";
import { draftsOfAuthor } from "../author.ts";
import { recall, remember } from "../device.ts";
import type { Filled } from "./arguments/schema.ts";
import type { AskOption } from "./wire.ts";

/** A decision on one ask that somebody has begun. */
export interface AskDraft {
  comment?: string;
  option?: string;
  text?: string;
  /** The content of the form, or the JSON written instead. */
  filled?: Filled;
  json?: string;
  /** Arguments as they were changed. */
  kwargs?: string;
  /** So many calls of a plan are left in, the first ones; without it, all. */
  left?: number | undefined;
}

const nameOf = (id: string): string => `${draftsOfAuthor()}ask.${id}`;

export function readAskDraft(id: string): AskDraft {
  try {
    return JSON.parse(recall(nameOf(id)) ?? "{}") as AskDraft;
  } catch {
    return {};
  }
}

export function dropAskDraft(id: string): void {
  remember(nameOf(id), null);
}

/** The draft of an ask and how to change it; it is kept across reloads until it is sent. */
export function useAskDraft(id: string): [AskDraft, (part: AskDraft) => void] {
  const [draft, setDraft] = useState(() => readAskDraft(id));
  return [
    draft,
    (part) =>
      setDraft((before) => {
        const changed = { ...before, ...part };
        const isEmpty = Object.values(changed).every((value) => value === undefined || value === "");
        remember(nameOf(id), isEmpty ? null : JSON.stringify(changed));
        return changed;
      }),
  ];
}

/**
 * Returns the words that stand beside an option: those that somebody wrote, else those that the option brings. Words
 * that another option brought go with it.
 */
export function wordsBeside(option: AskOption | undefined, options: readonly AskOption[], written = ""): string {
  const isOwn = written.trim() !== "" && !options.some(({ prompt_fill: fill }) => fill === written);
  return isOwn ? written : (option?.interactive && option.prompt_fill) || "";
}

/** The words of a draft, to be shown where they can no longer be sent. */
export function wordsOfDraft({ comment, text, json, kwargs, filled }: AskDraft): string {
  const typed = json ?? (filled && !kwargs ? JSON.stringify(filled, null, 2) : undefined);
  return [comment, text, typed, kwargs].filter(Boolean).join("\n\n");
}
