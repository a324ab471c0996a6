/** The words of the timeline of a run, loaded with it. */
import { number } from "../format.ts";
import type { RunEntry } from "./wire.ts";

/** The words of an entry beside the state of a call; `who` is null where nobody is named. */
type Said = Record<RunEntry["kind"], (who: string | null, agent: string) => string>;

const by = (what: string, who: string | null): string => (who === null ? what : `${what} by ${who}`);

export const text = {
  title: "Everything of this run",
  lead: "What its agent asked of you, what was decided, and what came of it. The newest is at the top.",
  none: "There is no timeline of this",
  noneHint: "It names no run, or is older than timelines.",
  toCard: "Back to the request",
  failed: "The timeline could not be loaded",
  older: "Show older",
  new: (n: number) => `${number(n)} new`,
  said: {
    asked: (_who, agent) => `${agent} asked`,
    pressed: (who) => by("Decision pressed", who),
    undone: (who) => by("Decision taken back", who),
    counted: (who) => `${by("Approval counted", who)}, more are needed`,
    approved: (who) => by("Approved", who),
    rejected: (who) => by("Rejected", who),
    answered: (who) => by("Answered", who),
    expired: () => "Expired",
    cancelled: () => "Withdrawn",
    asked_back: (who) => by("Asked back", who),
    inquiry_answered: (_who, agent) => `${agent} answered the question`,
    noted: (who) => by("Note to the agent", who),
    note_given: (_who, agent) => `${agent === "" ? "The agent" : agent} got the note`,
    started: (_who, agent) => `${agent} started it`,
    outcome: () => "",
    frozen: (who) => by("Frozen", who),
    thawed: (who) => by("Thawed", who),
  } satisfies Said as Said,
};

export type RunTexts = typeof text;
