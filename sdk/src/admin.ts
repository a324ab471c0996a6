import type { CallOptions, Connection } from "./http.ts";
import { keyedConnection, type KeyedOptions } from "./keyed.ts";
import { A2H } from "./outcome.ts";
import type {
  ActivityHours,
  ActivityPage,
  AgentReport,
  AgentState,
  AskingAgentPage,
  AuditChain,
  AuditEntry,
  AuditPage,
  ChangedPerson,
  ChannelReport,
  ChannelState,
  ChannelTest,
  CreatedKey,
  DecisionLine,
  EnrolledHuman,
  HealthReport,
  KeyList,
  NewChannelTest,
  NewHuman,
  NewKey,
  Person,
  PersonList,
  Reminded,
  RepeatCount,
  RevokedKey,
  SignInLink,
  StuckReport,
  Webhook,
  WebhookChange,
  WebhookDeliveryPage,
  WebhookTestReceipt,
} from "./wire-schemas.ts";

export type {
  ActivityHours,
  ActivityPage,
  AgentReport,
  AgentState,
  AskingAgentPage,
  Answer,
  AskHistory,
  AskLine,
  AuditChain,
  AuditEntry,
  AuditPage,
  CachedDecision,
  ChangedPerson,
  ChannelReport,
  ChannelState,
  ChannelTest,
  CreatedKey,
  DecisionLine,
  DecisionPage,
  EndedGrant,
  EnrolledHuman,
  HealthReport,
  HourFigures,
  HumanChange,
  HumanChannel,
  JobEvent,
  JobLine,
  KeyList,
  LastPrompt,
  LateAnswer,
  NewChannelTest,
  NewHuman,
  NewKey,
  Person,
  PersonList,
  PolicyReplay,
  PolicyReplayed,
  PolicyReport,
  PolicySuggest,
  PolicyFile,
  RulePreview,
  RulePreviewed,
  RuleSave,
  RuleSaved,
  PolicySuggested,
  PolicyTest,
  PolicyVerdict,
  Proposal,
  Reminded,
  RepeatCount,
  RevokedKey,
  Rule,
  SignInLink,
  StuckItem,
  StuckReport,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookTestReceipt,
  WholeAsk,
  WholeJob,
} from "./wire-schemas.ts";

/** Entries of the record about one ask, of one agent, or of one action. */
export type AuditFilter = Partial<Pick<AuditEntry, "ask_id" | "agent" | "action">>;

/** Decisions that ended from `from` on and before `until` (RFC 3339), and what else they have in common. */
export type ActivityFilter = {
  from?: string | undefined;
  until?: string | undefined;
  kind?: DecisionLine["kind"] | undefined;
  by?: DecisionLine["by"] | undefined;
  agent?: string | undefined;
  state?: DecisionLine["state"] | undefined;
};

/** A list that is read to its end is read in pages of so many. */
const LONGEST_PAGE = 200;
/** Beyond every number the record will have. */
const NEWEST = 999_999_999_999_999;
/** Every row is looked at, however many there are. */
const LONG_MS = 300_000;
const segment = encodeURIComponent;

/**
 * The administration of a Parley server: people, keys, channels, webhooks and the record, for a key of scope `admin` or
 * the session of an admin.
 *
 * Every method throws a {@link ParleyError}: `UNAUTHORIZED` and `FORBIDDEN` under `/admin`, `unauthorized` and
 * `insufficient_scope` for humans, webhooks and the record, which stand at the A2H door; status 401 or 403 at both.
 */
export class Admin {
  readonly #connection: Connection;

  constructor(options: KeyedOptions) {
    this.#connection = keyedConnection(options);
  }

  /** Reads everybody who can sign in. */
  async people(options: CallOptions = {}): Promise<Person[]> {
    return (await this.#connection.call<PersonList>("GET", "/admin/people", options)).people;
  }

  /**
   * The person has that role; the admin keys of a former admin end.
   *
   * @throws {ParleyError} `NOT_FOUND`, `VALIDATION_ERROR` for the operator
   */
  async changeRole(person: string, role: Person["role"], options: CallOptions = {}): Promise<ChangedPerson> {
    return this.#connection.call("PATCH", personPath(person), { ...options, body: { role } });
  }

  /** A link that signs the person in once, within 30 minutes. @throws {ParleyError} `NOT_FOUND` */
  async createSignInLink(person: string, options: CallOptions = {}): Promise<SignInLink> {
    return this.#connection.call("POST", `${personPath(person)}/sign_in_link`, options);
  }

  /** The person is signed out everywhere. @throws {ParleyError} `NOT_FOUND` */
  async endSessions(person: string, options: CallOptions = {}): Promise<void> {
    return this.#connection.call("DELETE", `${personPath(person)}/sessions`, options);
  }

  /** Reads everybody as they are written down, with how they are reached, page after page. */
  async humans(options: CallOptions = {}): Promise<EnrolledHuman[]> {
    const all: EnrolledHuman[] = [];
    for (let cursor: string | undefined; ;) {
      const query = { view: "admin", limit: LONGEST_PAGE, cursor };
      const page = await this.#connection.call<{ humans: EnrolledHuman[]; nextCursor?: string }>(
        "GET",
        `${A2H}/humans`,
        { ...options, query },
      );
      all.push(...page.humans);
      if (page.nextCursor === undefined) return all;
      cursor = page.nextCursor;
    }
  }

  /** The human is enrolled, and can be asked. @throws {ParleyError} `validation_failed` */
  async addHuman(human: NewHuman, options: CallOptions = {}): Promise<EnrolledHuman> {
    return this.#connection.call("POST", `${A2H}/humans`, { ...options, body: human });
  }

  /** The human is written down anew, as a whole. @throws {ParleyError} `not_found`, `validation_failed` */
  async replaceHuman(human: string, by: NewHuman, options: CallOptions = {}): Promise<EnrolledHuman> {
    return this.#connection.call("PUT", humanPath(human), { ...options, body: by });
  }

  /**
   * The human is retired: they are asked nothing more, their keys and sessions end, and what only they were asked goes to
   * everybody who sees all.
   *
   * @throws {ParleyError} `not_found`, `validation_failed` for the operator
   */
  async removeHuman(human: string, options: CallOptions = {}): Promise<void> {
    return this.#connection.call("DELETE", humanPath(human), options);
  }

  /** Reads every key there ever was, the newest first; never its text. */
  async keys(options: CallOptions = {}): Promise<RevokedKey[]> {
    return (await this.#connection.call<KeyList>("GET", "/admin/keys", options)).keys;
  }

  /** A fresh key; its text is in this reply alone. @throws {ParleyError} `NOT_FOUND`, `VALIDATION_ERROR` */
  async createKey(key: NewKey, options: CallOptions = {}): Promise<CreatedKey> {
    return this.#connection.call("POST", "/admin/keys", { ...options, body: key });
  }

  /** The next request with the key is refused. @throws {ParleyError} `NOT_FOUND` */
  async revokeKey(key: string, options: CallOptions = {}): Promise<RevokedKey> {
    return this.#connection.call("DELETE", `/admin/keys/${segment(key)}`, options);
  }

  /** Reads which coding agents go through the server on its own computer, and the newest prompt of each from anywhere. */
  async agents(options: CallOptions = {}): Promise<AgentState[]> {
    return (await this.#connection.call<AgentReport>("GET", "/admin/agents", options)).agents;
  }

  /** Reads which ways to reach people are configured, and what became of their messages. */
  async channels(options: CallOptions = {}): Promise<ChannelState[]> {
    return (await this.#connection.call<ChannelReport>("GET", "/admin/channels", options)).channels;
  }

  /**
   * Sends a test message to a person on one channel; left out, to the person who is signed in.
   *
   * @throws {ParleyError} `NOT_FOUND`, `VALIDATION_ERROR` where the channel is not configured or does not reach them
   */
  async startChannelTest(test: NewChannelTest, options: CallOptions = {}): Promise<ChannelTest> {
    return this.#connection.call("POST", "/admin/channel_tests", { ...options, body: test });
  }

  /** Reads how far a test message has come. @throws {ParleyError} `NOT_FOUND` */
  async channelTest(test: string, options: CallOptions = {}): Promise<ChannelTest> {
    return this.#connection.call("GET", `/admin/channel_tests/${segment(test)}`, options);
  }

  /** Reads every webhook endpoint of every agent, page after page; never its secret. */
  async webhooks(options: CallOptions = {}): Promise<Webhook[]> {
    const all: Webhook[] = [];
    for (let cursor: string | undefined; ;) {
      const query = { limit: LONGEST_PAGE, cursor };
      const page = await this.#connection.call<{ items: Webhook[]; next_cursor?: string }>(
        "GET",
        `${A2H}/webhook_endpoints`,
        { ...options, query },
      );
      all.push(...page.items);
      if (page.next_cursor === undefined) return all;
      cursor = page.next_cursor;
    }
  }

  /** The members that are given replace those of the endpoint. @throws {ParleyError} `not_found`, `validation_failed` */
  async changeWebhook(webhook: string, change: WebhookChange, options: CallOptions = {}): Promise<Webhook> {
    return this.#connection.call("PATCH", webhookPath(webhook), { ...options, body: change });
  }

  /** An event that did not happen goes to the endpoint. @throws {ParleyError} `not_found` */
  async testWebhook(webhook: string, options: CallOptions = {}): Promise<WebhookTestReceipt> {
    return this.#connection.call("POST", `${webhookPath(webhook)}/test`, { ...options, body: {} });
  }

  /** Reads one page of what was sent to an endpoint, the newest first. @throws {ParleyError} `not_found` */
  async webhookDeliveries(
    webhook: string,
    { limit, cursor, ...options }: CallOptions & { limit?: number; cursor?: string | undefined } = {},
  ): Promise<WebhookDeliveryPage> {
    const call = { ...options, query: { limit, cursor } };
    return this.#connection.call("GET", `${webhookPath(webhook)}/deliveries`, call);
  }

  /** The event of a delivery is sent once more. @throws {ParleyError} `not_found` */
  async retryDelivery(webhook: string, delivery: string, options: CallOptions = {}): Promise<RepeatCount> {
    return this.#connection.call("POST", `${webhookPath(webhook)}/deliveries/${segment(delivery)}/retry`, options);
  }

  /** Reads one page of what was decided, the newest first; `state: "waiting"` lists what waits. */
  async activity({
    signal,
    ...query
  }: CallOptions & ActivityFilter & { cursor?: string | undefined } = {}): Promise<ActivityPage> {
    return this.#connection.call("GET", "/admin/activity", { query, signal });
  }

  /** Counts the decisions of the last day, week or month, by time and by whom. */
  async activityHours(span: ActivityHours["span"], options: CallOptions = {}): Promise<ActivityHours> {
    return this.#connection.call("GET", "/admin/activity/hours", { ...options, query: { span } });
  }

  /** Reads one page of the record, the newest first; `before` is the `seq` of an entry. */
  async audit({
    before,
    limit,
    signal,
    ...filter
  }: CallOptions & AuditFilter & { before?: number | undefined; limit?: number } = {}): Promise<AuditPage> {
    const query = { ...filter, before_seq: before ?? NEWEST, limit };
    return this.#connection.call("GET", `${A2H}/audit`, { query, signal });
  }

  /** Reads whether every entry of the record follows from the one before it. One request may take 5 minutes. */
  async auditChain(options: CallOptions = {}): Promise<AuditChain> {
    return this.#connection.call("GET", "/admin/audit/chain", { ...options, timeoutMs: LONG_MS });
  }

  /** Reads whether what is stored keeps its promises; with `full`, all of them. One request may take 5 minutes. */
  async health({ full = false, ...options }: CallOptions & { full?: boolean } = {}): Promise<HealthReport> {
    const call = { ...options, query: { full: String(full) }, timeoutMs: LONG_MS };
    return this.#connection.call("GET", "/admin/health", call);
  }

  /** Reads a page of the programs that ask, by name: the first, or the one after the page whose `next` is `cursor`. */
  async askingAgents({
    cursor,
    ...options
  }: CallOptions & { cursor?: string | undefined } = {}): Promise<AskingAgentPage> {
    return this.#connection.call("GET", "/admin/asking_agents", { ...options, query: { cursor } });
  }

  /** Reads what waits and will not end by itself, by its cause. */
  async stuck(options: CallOptions = {}): Promise<StuckReport> {
    return this.#connection.call("GET", "/admin/stuck", options);
  }

  /** Has everybody who is asked told of a request once more; nobody within a minute of the last time. */
  async remind(request: string, options: CallOptions = {}): Promise<Reminded> {
    return this.#connection.call("POST", `/admin/requests/${segment(request)}/remind`, options);
  }
}

const personPath = (person: string): string => `/admin/people/${segment(person)}`;
const humanPath = (human: string): string => `${A2H}/humans/${segment(human)}`;
const webhookPath = (webhook: string): string => `${A2H}/webhook_endpoints/${segment(webhook)}`;
