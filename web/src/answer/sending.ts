import { newKey } from "@parley/sdk/idempotency-key";
import type { FeedItem, HumanQuestion } from "@parley/sdk/wire";
import { useRef, useState } from "preact/hooks";
import { useLocation } from "../router.tsx";
import { deviceName } from "../device.ts";
import { type Draft, dropDraft } from "../drafts.ts";
import { sendLater } from "../live.ts";
import { submit } from "../outbox.ts";
import { announce } from "../parts/announcer.tsx";
import { type ListedPage } from "../queries.ts";
import { queries } from "../query/query.ts";

/** The fields of a draft that are sent, by the type of the question. */
interface Chosen {
  answer?: string;
  selected_option?: number;
  confidence?: number;
}

/** Returns the part of a draft that answers this type of question, or null where it holds no answer. */
export function chosen(question: HumanQuestion, draft: Draft): Chosen | null {
  const sure = draft.confidence === undefined ? {} : { confidence: draft.confidence };
  if (question.type === "multiple_choice") {
    return draft.selected_option === undefined ? null : { selected_option: draft.selected_option, ...sure };
  }
  return draft.answer?.trim() ? { answer: draft.answer, ...sure } : null;
}

/**
 * Returns whether an answer is being sent, and how to send one, once; it is sent later if the server cannot be reached
 * now.
 */
export function useSending(question: HumanQuestion): [boolean, (answer: Chosen) => Promise<void>] {
  const [sending, setSending] = useState(false);
  const begun = useRef(false);
  const send = async (answer: Chosen): Promise<void> => {
    if (begun.current) return;
    begun.current = true;
    setSending(true);
    const { question_id, prompt, type, options } = question;
    const isSent = await submit({
      key: newKey(),
      answer: { question_id, ...answer },
      question: { prompt, type, ...(options ? { options } : {}) },
      device: deviceName(),
    });
    dropDraft(question_id);
    if (!isSent) void sendLater();
  };
  return [sending, send];
}

/** Takes the question out of the list at once, says why, and goes on to the next. */
export function useLeaving(id: string, next: FeedItem | undefined): (words: string) => void {
  const [, go] = useLocation();
  return (words) => {
    queries.setQueriesData<ListedPage>({ queryKey: ["feed"] }, (page) => {
      return (
        page && {
          ...page,
          questions: page.questions.filter((one) => one.question_id !== id),
        }
      );
    });
    announce(words);
    go(next ? `/q/${next.question_id}` : "/");
  };
}
