/** Bodies of the inbox, by the names that the pages have for them. */
import type { InboxAsk, InboxAskLine, InboxCounts } from "@parley/sdk/inbox";

export type {
  ArgumentRow,
  DecidedBy as By,
  DiffLine,
  InboxAsk as WholeAsk,
  InboxAskLine as ListedAsk,
  InboxCounts as Counts,
  InboxDecision as NewDecision,
  InboxOption as AskOption,
  InboxPage as AskPage,
  TypedArgument,
} from "@parley/sdk/inbox";

export type Kind = InboxAskLine["kind"];

/** When something is due: within an hour, within a day, after that, or never. */
export type Due = keyof InboxCounts["due"];

/** The part of a list to show; empty for all of it. */
export interface Wanted {
  kind?: Kind;
  due?: Due;
  agent?: string;
  /** Words to look for in what is over. */
  q?: string;
}

/** Written by an agent: data, never code. */
export type JsonSchema = NonNullable<InboxAsk["schema"]> | boolean;
