/** Types of what people are asked by name, of their decisions, and of their conversations with agents, as they travel. */
export type {
  ArgumentRow,
  AskToPeople,
  DecidedBy,
  DiffLine,
  InboxAsk,
  InboxAskLine,
  InboxCounts,
  InboxDecision,
  InboxOption,
  InboxPage,
  OwnConversation,
  OwnConversationPage,
  TypedArgument,
} from "./wire-schemas.ts";
