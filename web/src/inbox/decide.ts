import { ParleyError } from "@parley/sdk/errors";
import { useState } from "preact/hooks";
import { announce } from "../parts/announcer.tsx";
import { queries } from "../query/query.ts";
import { inbox } from "./api.ts";
import { type AskDraft, dropAskDraft } from "./draft.ts";
import { endOf, ownPress, pressed } from "./pressed.ts";
import { decided, refresh } from "./queries.ts";
import type { Problem } from "./arguments/schema.ts";
import { text } from "./text.ts";
import type { AskOption, Granted, NewDecision, WholeAsk } from "./wire.ts";

/** Why a decision was not taken, and where its value did not fit. */
export interface Refused {
  says: string;
  problems: readonly Problem[];
}

export interface Deciding {
  send(decision: NewDecision): Promise<void>;
  sending: boolean;
  refused: Refused | null;
}

/** Sends decisions about one ask. A refused one loses no words; one that came too late shows how the ask ended. */
export function useDecide(id: string): Deciding {
  const [sending, setSending] = useState(false);
  const [refused, setRefused] = useState<Refused | null>(null);

  const send = async (decision: NewDecision): Promise<void> => {
    if (sending) return;
    setSending(true);
    setRefused(null);
    try {
      const after = await inbox.decide(id, decision);
      const press = ownPress(after);
      const says = `${endOf(after, true)}: ${after.sentence}`;
      // The draft comes back with an undo.
      if (press) pressed.set({ ids: [id], place: id, says, until: Date.parse(press.until) });
      else dropAskDraft(id);
      queries.setQueryData(["ask", id], after);
      void queries.invalidateQueries({ queryKey: ["inbox"] });
      // The bar with the way back says it.
      if (!press) announce(text.state.sent);
      decided.set(after);
    } catch (error) {
      setRefused(explain(error));
      if (!(error instanceof ParleyError && error.isPassing)) refresh(id);
    }
    setSending(false);
  };
  return { send, sending, refused };
}

/** Yes to a call, with its own arguments or with others; those may be allowed further on. */
export function approval(
  ask: WholeAsk,
  draft: AskDraft,
  { kwargs, granted }: { kwargs: string | null; granted: Granted },
): NewDecision {
  return {
    approved: true,
    ...commentIn(draft),
    ...(kwargs === null ? granted : { kwargs }),
    digest: ask.digest ?? "",
  };
}

/** No to a call, by one of the ways that the agent offers where there is an option. */
export function rejection(ask: WholeAsk, draft: AskDraft, option: AskOption | undefined): NewDecision {
  return {
    approved: false,
    ...commentIn(draft),
    ...(ask.digest !== null && { digest: ask.digest }),
    ...(option && { option: option.name }),
  };
}

const commentIn = ({ comment }: AskDraft) => (comment?.trim() ? { comment } : {});

export function explain(error: unknown): Refused {
  if (!(error instanceof ParleyError)) return { says: text.state.failed(String(error)), problems: [] };
  if (error.isPassing) return { says: text.state.unreachable, problems: [] };
  if (error.code === "DIGEST_MISMATCH") return { says: text.state.changed, problems: [] };
  const { errors } = error.details as { errors?: Problem[] };
  return { says: text.state.failed(error.message), problems: errors ?? [] };
}
