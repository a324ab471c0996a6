/**
 * Types of what travels, from the schemas of the server. The published package has their text in this module
 * (scripts/build-sdk.mjs): it depends on nothing.
 */
export type { WireAnswer as Answer, WireAsk as Ask } from "../../src/wire/ask.ts";
export type {
  WireOwnConversation as OwnConversation,
  WireOwnConversationPage as OwnConversationPage,
} from "../../src/wire/conversation.ts";
export type {
  InboxDecisionBody as InboxDecision,
  WireArgumentRow as ArgumentRow,
  WireDecidedBy as DecidedBy,
  WireDiffLine as DiffLine,
  WireInboxAsk as InboxAsk,
  WireInboxAskLine as InboxAskLine,
  WireInboxCounts as InboxCounts,
  WireInboxOption as InboxOption,
  WireInboxPage as InboxPage,
  WireTypedArgument as TypedArgument,
} from "../../src/wire/inbox.ts";
export type {
  FinishBody as JobEnd,
  LogBody as JobLog,
  WireArtifact as Artifact,
  WireJob as Job,
  WireJobLogLine as JobLogLine,
  WireJobStatus as JobStatus,
  WireLease as Lease,
} from "../../src/wire/job.ts";
export type { WireSignedIn as SignedIn } from "../../src/wire/session.ts";
