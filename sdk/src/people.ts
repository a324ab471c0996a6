import { type CallOptions, Connection, type ConnectionOptions } from "./http.ts";
import { newKey } from "./idempotency-key.ts";
import { follow } from "./sse.ts";
import type {
  AnswerReceipt,
  Audience,
  FeedEvent,
  FeedPage,
  HumanQuestion,
  Leaderboard,
  LeaderboardName,
  NewAnswer,
  NewSubscription,
  Period,
  QuestionResults,
  RecoveryCode,
  ReportReason,
  SignedIn,
  Stats,
  SubscriptionReceipt,
} from "./wire.ts";

export interface PeopleOptions extends ConnectionOptions {
  /** A key of scope `answer` that belongs to a person. */
  key?: string;
  /**
   * How this participant is recognised next time. `token` (the default) keeps what the server issues in this object;
   * `cookie` leaves it to the browser, where a page on the server's own origin wants it.
   */
  credential?: "token" | "cookie";
  /** A token kept from before. */
  participantToken?: string;
  /**
   * A random name of this device. It joins a first request that is repeated because its reply was lost;
   * beside a credential it means nothing.
   */
  fingerprint?: string;
  /**
   * The person whose requests these are: the number of the person who is signed in, or null for somebody without a
   * name. The server refuses them as `PERSON_CHANGED` where somebody else is signed in. Left out, they belong to the
   * person who is signed in then.
   */
  person?: string | null;
  /** The IANA zone in which days count for streaks. */
  timeZone?: string;
}

/** The people's side of a Parley server: find a question, answer it, see what it earned. */
export class People {
  readonly #connection: Connection;
  #token: string | undefined;

  constructor(options: PeopleOptions) {
    this.#token = options.participantToken;
    const keepsToken = options.credential !== "cookie";
    this.#connection = new Connection(
      options,
      () => ({
        authorization: options.key === undefined ? undefined : `Bearer ${options.key}`,
        "x-participant-token": this.#token,
        "x-fingerprint": options.fingerprint,
        "x-person": options.person === null ? "none" : options.person,
        "x-time-zone": options.timeZone,
      }),
      (reply) => {
        if (keepsToken) this.#token = reply.headers.get("x-participant-token") ?? this.#token;
      },
    );
  }

  /** The token that recognises this participant. Keep it to be the same participant in another process. */
  get participantToken(): string | undefined {
    return this.#token;
  }

  /** Reads one page of what waits for answers, most urgent first. Drop repeats by id when paging. */
  async feed(
    options: CallOptions & {
      audience?: readonly Audience[];
      limit?: number;
      cursor?: string | null;
    } = {},
  ): Promise<FeedPage> {
    const query = {
      audience: options.audience?.length ? options.audience.join(",") : undefined,
      limit: options.limit,
      cursor: options.cursor ?? undefined,
    };
    return this.#connection.call("GET", "/human/questions", {
      signal: options.signal,
      query,
    });
  }

  /** @throws {ParleyError} `QUESTION_NOT_FOUND`, `QUESTION_CLOSED` */
  async question(id: string, options: CallOptions = {}): Promise<HumanQuestion> {
    return this.#connection.call("GET", pathOf(id), options);
  }

  /**
   * The answer is stored and has earned its points.
   *
   * It carries an idempotency key, yours or a fresh one: the same key again returns the same receipt.
   *
   * @throws {ParleyError} `ALREADY_ANSWERED`, `QUESTION_CLOSED`, `QUESTION_NOT_FOUND`, `SELF_ANSWER`,
   *   `VALIDATION_ERROR`, `RATE_LIMITED`
   */
  async answer(answer: NewAnswer, options: CallOptions & { idempotencyKey?: string } = {}): Promise<AnswerReceipt> {
    const idempotencyKey = options.idempotencyKey ?? newKey();
    return this.#connection.call("POST", "/human/responses", {
      signal: options.signal,
      body: answer,
      idempotencyKey,
    });
  }

  /** The question stays out of this participant's feed for 24 hours. */
  async skip(id: string, options: CallOptions = {}): Promise<void> {
    return this.#connection.call("POST", `${pathOf(id)}/skip`, {
      ...options,
      body: {},
      repeatable: true,
    });
  }

  /** The question leaves this participant's feed; enough reports hold it out of everybody's. */
  async report(id: string, reason: ReportReason, comment?: string, options: CallOptions = {}): Promise<void> {
    const body = comment ? { reason, comment } : { reason };
    return this.#connection.call("POST", `${pathOf(id)}/report`, {
      ...options,
      body,
      repeatable: true,
    });
  }

  /** Reads the answers of others, once one has answered oneself. @throws {ParleyError} `ANSWER_FIRST` */
  async results(id: string, options: CallOptions = {}): Promise<QuestionResults> {
    return this.#connection.call("GET", `${pathOf(id)}/results`, options);
  }

  async stats(options: CallOptions = {}): Promise<Stats> {
    return this.#connection.call("GET", "/human/stats", options);
  }

  async leaderboard(period: Period = "all_time", options: CallOptions & { limit?: number } = {}): Promise<Leaderboard> {
    const query = { period, limit: options.limit };
    return this.#connection.call("GET", "/human/leaderboard", {
      signal: options.signal,
      query,
    });
  }

  /**
   * Shows this participant under a name on the leaderboard, or without one for null. Returns the name as it is shown.
   *
   * @throws {ParleyError} `NAME_TAKEN`
   */
  async chooseLeaderboardName(name: string | null, options: CallOptions = {}): Promise<string | null> {
    const path = "/human/leaderboard/name";
    if (name === null) {
      await this.#connection.call("DELETE", path, options);
      return null;
    }
    const chosen: LeaderboardName = await this.#connection.call("PUT", path, { ...options, body: { name } });
    return chosen.name;
  }

  /** Yields what changes in the feed, live only: read the feed anew at every `onConnect`. */
  async *events(
    options: CallOptions & {
      onConnect?: () => void;
      onDisconnect?: () => void;
    } = {},
  ): AsyncGenerator<FeedEvent> {
    for await (const { event, data } of follow(this.#connection, "/human/events", options)) {
      if (event === "opened" || event === "needs" || event === "gone") {
        yield { event, data: JSON.parse(data) } as FeedEvent;
      }
    }
  }

  /** The public key a browser needs to subscribe to push messages of this server. */
  async pushKey(options: CallOptions = {}): Promise<string> {
    const path = "/human/push/key";
    const { vapid_public_key } = await this.#connection.call<{
      vapid_public_key: string;
    }>("GET", path, options);
    return vapid_public_key;
  }

  /** Notifies the device of new questions from now on. The same device again only updates its settings. */
  async subscribe(subscription: NewSubscription, options: CallOptions = {}): Promise<SubscriptionReceipt> {
    const call = { ...options, body: subscription, repeatable: true };
    return this.#connection.call("POST", "/human/push/subscribe", call);
  }

  /** The device's settings or address are replaced. */
  async updateSubscription(
    subscription: NewSubscription & { subscription_id?: string },
    options: CallOptions = {},
  ): Promise<SubscriptionReceipt> {
    return this.#connection.call("PUT", "/human/push/subscribe", {
      ...options,
      body: subscription,
    });
  }

  /** Ends all notifications to the device. @throws {ParleyError} `SUBSCRIPTION_NOT_FOUND` */
  async unsubscribe(subscriptionId: string, options: CallOptions = {}): Promise<void> {
    const path = `/human/push/subscribe/${encodeURIComponent(subscriptionId)}`;
    return this.#connection.call("DELETE", path, options);
  }

  /** A fresh code that moves this participant to another device, once; former codes are void. */
  async createRecoveryCode(options: CallOptions = {}): Promise<RecoveryCode> {
    return this.#connection.call("POST", "/human/recovery", {
      ...options,
      body: {},
    });
  }

  /** This device is from now on the participant who made the code. */
  async redeemRecoveryCode(code: string, options: CallOptions = {}): Promise<void> {
    await this.#connection.call("POST", "/human/recovery/redeem", {
      ...options,
      body: { code },
    });
  }

  /** The participant, its subscriptions and its figures are gone; its answers stay, unlinked. */
  async eraseMe(options: CallOptions = {}): Promise<void> {
    await this.#connection.call("DELETE", "/human/me", options);
    this.#token = undefined;
  }

  /** Signs a named person in with a one-time code; the browser holds the session's cookie. */
  async signIn(code: string, options: CallOptions = {}): Promise<SignedIn> {
    return this.#connection.call("POST", "/session", {
      ...options,
      body: { code },
    });
  }

  /** Who is signed in. @throws {ParleyError} `UNAUTHORIZED` when nobody is */
  async session(options: CallOptions = {}): Promise<SignedIn> {
    return this.#connection.call("GET", "/session", options);
  }

  async signOut(options: CallOptions = {}): Promise<void> {
    return this.#connection.call("DELETE", "/session", options);
  }
}

function pathOf(id: string): string {
  return `/human/questions/${encodeURIComponent(id)}`;
}
