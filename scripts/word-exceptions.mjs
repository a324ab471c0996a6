/**
 * The private words that stay in code, each with its reason. `npm run house` counts identifiers and comments, and leaves
 * out the migrations. Text in quotes is not counted: it is text to people, SQL, or a name on the wire.
 */

/** A review names its decision `verdict` in requests and replies. */
const REVIEW_BODY = "a member of a review on the wire";
/** An attempt's request is named `wish` there. */
const WORKER_BODY = "a member of a worker's reports and their replies";
const POLICY_FILE = "a setting of a rule in the policy file";
const OUTCOME = "a member of an outcome in stored JSON";
const COLUMN = "a column or alias of a statement";
const MIGRATION = "the name of a migration, by which the upgrade path finds it";
const SCHEMA_NAME = "a name in /openapi.json and in the SDK";
const SUPERVISOR_LOG = "a member of a line in the supervisor's log, which outlives the server";

/**
 * Identifiers that stay: `name` as it is written, in the files that match one of `files`.
 *
 * @type {readonly { name: string; files: readonly string[]; because: string }[]}
 */
export const WORD_EXCEPTIONS = [
  {
    name: "verdict",
    files: [
      "src/wire/tasks/task.ts",
      "src/wire/tasks/bodies.ts",
      "src/protocols/http/task.ts",
      "src/protocols/http/task-input.ts",
      "src/cli/tasks/task.ts",
      "src/cli/tasks/view.ts",
      "web/src/console/tasks/page.tsx",
      "web/src/console/tasks/review.tsx",
    ],
    because: REVIEW_BODY,
  },
  { name: "verdict", files: ["src/tasks/store/reviews.ts"], because: COLUMN },
  {
    name: "PolicyVerdict",
    files: [
      "sdk/src/admin.ts",
      "sdk/src/wire-schemas.ts",
      "web/src/console/relay/wire.ts",
      "web/src/console/relay/api.ts",
    ],
    because: SCHEMA_NAME,
  },
  {
    name: "WirePolicyVerdict",
    files: ["src/wire/policy.ts", "src/protocols/web/admin/policy-routes.ts", "sdk/src/wire-schemas.ts"],
    because: SCHEMA_NAME,
  },
  {
    name: "WireChannelVerdict",
    files: ["src/wire/a2h/channel.ts", "src/protocols/a2h/channel-routes.ts"],
    because: SCHEMA_NAME,
  },
  {
    name: "standing",
    files: ["src/wire/inbox.ts", "src/protocols/web/inbox/routes.ts", "web/src/inbox/decide.ts"],
    because: "a member of a decision on the wire",
  },
  {
    name: "standing",
    files: ["src/policy/model/check.ts", "src/responders/policy/policy-file.ts"],
    because: POLICY_FILE,
  },
  {
    name: "standing",
    files: ["src/wire/policy.ts", "src/protocols/web/admin/policy-routes.ts"],
    because: "a member of a rule on the wire, named as in the policy file",
  },
  {
    name: "standing",
    files: [
      "src/requests/model/request.ts",
      "src/requests/model/settle.ts",
      "src/requests/decide/grant-call.ts",
      "src/asks/respond/learn-from-ask.ts",
    ],
    because: OUTCOME,
  },
  {
    name: "standing",
    files: ["src/asks/respond/put-to-people.ts", "src/requests/create/request-call.ts"],
    because: "a member of a request's `wire` in stored JSON",
  },
  {
    name: "standing_until",
    files: ["src/wire/inbox.ts", "src/protocols/web/inbox/routes.ts", "web/src/inbox/confirm.tsx"],
    because: "a member of a request on the wire",
  },
  {
    name: "pressed",
    files: [
      "src/requests/model/request.ts",
      "src/requests/model/settle.ts",
      "src/requests/decide/decide.ts",
      "src/requests/read/read-receipt.ts",
    ],
    because: "a member of a counted decision in stored JSON",
  },
  { name: "aria-pressed", files: ["web/src/**"], because: "an attribute of ARIA" },
  {
    name: "wish",
    files: ["src/wire/tasks/work.ts", "src/protocols/assignment/worker-routes.ts", "src/worker/http-attempt-client.ts"],
    because: WORKER_BODY,
  },
  {
    name: "wish",
    files: [
      "src/workshop/supervisor/lines.ts",
      "src/workshop/pending-decisions.ts",
      "src/workshop/follow.ts",
      "src/workshop/asking.ts",
    ],
    because: SUPERVISOR_LOG,
  },
  {
    name: "wish",
    files: ["src/tasks/ask-for-attempt.ts"],
    because: "a member under the hash of a question, and in the stored path of a secret",
  },
  {
    name: "commission",
    files: ["src/wire/tasks/work.ts", "src/protocols/assignment/worker-routes.ts", "src/worker/http-attempt-client.ts"],
    because: WORKER_BODY,
  },
  { name: "commission", files: ["src/cli/tasks/work.ts"], because: "a member of a job in the worker's own file" },
  {
    name: "said_at",
    files: [
      "src/wire/conversation.ts",
      "src/protocols/web/inbox/conversation-routes.ts",
      "web/src/inbox/talk/talk.tsx",
    ],
    because: "a member of a conversation on the wire",
  },
  { name: "said_at", files: ["src/conversations/store/conversations.ts"], because: COLUMN },
  { name: "heard_at", files: ["src/requests/store/phones.ts"], because: COLUMN },
  { name: "told_at", files: ["src/questions/store/notified.ts"], because: COLUMN },
  { name: "told", files: ["src/notices/store/notices.ts"], because: COLUMN },
  { name: "told_lately", files: ["src/notices/store/notices.ts"], because: COLUMN },
  { name: "heardSwept", files: ["src/core/store/migrate.ts"], because: MIGRATION },
  { name: "standings", files: ["src/core/store/migrate.ts"], because: MIGRATION },
];
