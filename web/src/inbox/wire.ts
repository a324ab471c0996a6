/** Bodies of the inbox, by the names that the pages have for them. */
import type { Batch, InboxAsk, InboxDecision, InboxFilter, Precedents } from "@parley/sdk/inbox";

export type {
  ArgumentRow,
  Batch,
  DecidedBy as By,
  DiffLine,
  EditedCall,
  InboxAsk as WholeAsk,
  InboxAskLine as ListedAsk,
  InboxCounts as Counts,
  InboxFilter as Wanted,
  InboxDecision as NewDecision,
  InboxOption as AskOption,
  InboxPage as AskPage,
  PlanEvidence as Evidence,
  RunEntry,
  TypedArgument,
} from "@parley/sdk/inbox";

/** The calls of a plan, with the evidence of its agent. */
export type Plan = NonNullable<InboxAsk["plan"]>;
export type PlannedCall = Plan["calls"][number];

/** One of the waiting calls of an agent and function. */
export type BatchedCall = Batch["calls"][number];
export type BatchMark = BatchedCall["marks"][number];

/** An earlier decision on the function of a call, and an argument in which the present call differs. */
export type Precedent = Precedents["precedents"][number];
export type ArgumentChange = Precedent["changes"][number];

/** A permission that is given with an approval: of exactly this call, of calls like it, or of none. */
export type Granted = Pick<InboxDecision, "standing" | "like">;

export type Kind = NonNullable<InboxFilter["kind"]>;

/** When something is due: within an hour, within a day, after that, or never. */
export type Due = NonNullable<InboxFilter["due"]>;

/** In which order what waits is listed. */
export type Order = NonNullable<InboxFilter["order"]>;

/** Written by an agent: data, never code. */
export type JsonSchema = NonNullable<InboxAsk["schema"]> | boolean;
