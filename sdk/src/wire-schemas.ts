/**
 * Types of what travels, from the schemas of the server. The published package has their text in this module
 * (scripts/build-sdk.mjs): it depends on nothing.
 */
export type { WireAnswer as Answer, WireAsk as Ask } from "../../src/wire/ask.ts";
export type {
  FinishBody as JobEnd,
  LogBody as JobLog,
  WireArtifact as Artifact,
  WireJob as Job,
  WireJobLogLine as JobLogLine,
  WireJobStatus as JobStatus,
  WireLease as Lease,
} from "../../src/wire/job.ts";
export type {
  WireLeaderboard as Leaderboard,
  WireRecoveryCode as RecoveryCode,
  WireStats as Stats,
} from "../../src/wire/participant.ts";
export type {
  NewAnswerInput as NewAnswer,
  NewQuestionInput as NewQuestion,
  WireAnswerReceipt as AnswerReceipt,
  WireFeedPage as FeedPage,
  WireFeedQuestion as FeedQuestion,
  WireHumanQuestion as HumanQuestion,
  WireQuestion as Question,
  WireQuestionList as QuestionList,
  WireQuestionReceipt as QuestionReceipt,
  WireQuestionResponse as QuestionResponse,
  WireQuestionResults as QuestionResults,
} from "../../src/wire/question.ts";
export type {
  NewSubscriptionBody as NewSubscription,
  WirePushSubscription as PushSubscription,
  WireQuietHours as QuietHours,
  WireSubscriptionReceipt as SubscriptionReceipt,
} from "../../src/wire/subscription.ts";
export type { WireAuditEntry as AuditEntry, WireAuditPage as AuditPage } from "../../src/wire/audit.ts";
export type { WireContactChannel as ContactChannel } from "../../src/wire/channel.ts";
export type { WireHuman as Human } from "../../src/wire/human.ts";
export type { WireMessage as Message, WireMessageStatus as MessageStatus } from "../../src/wire/message.ts";
export type {
  WireApproval as Approval,
  WireCallStatus as CallStatus,
  WireFailedValidation as FailedValidation,
  WireFunctionCall as FunctionCall,
  WireResponder as Responder,
  WireResponseOption as ResponseOption,
} from "../../src/wire/request.ts";
export type {
  WireWebhook as Webhook,
  WireWebhookDelivery as WebhookDelivery,
  WireWebhookDeliveryPage as WebhookDeliveryPage,
} from "../../src/wire/webhook.ts";
