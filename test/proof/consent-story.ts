import type { Taken } from "../channels/mail.ts";
import { until } from "../support/contract.ts";
import { createKey } from "../../src/access/create-key.ts";
import { sql } from "../../src/core/store/sql.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { OPERATOR } from "../support/identities.ts";
import type { GateScene } from "./consent-gate.ts";
import type { Use } from "./consent-uses.ts";
import { ASKERS_MAILBOX, ASKERS_TOKEN, type ConsentWorld, type MailTokens, type Somebody } from "./consent-world.ts";
import type { Dice } from "./sim-dice.ts";

/** A call that the asker wants to run, and who has to agree for it to be approved. */
export interface AskedCall {
  id: string;
  requestId: string;
  /** Every one of these, or with `any` one of them. */
  needs: "all" | "any";
  of: readonly Somebody[];
  /** Those who have really approved, each by a means of their own. */
  agreed: Set<Somebody>;
}

/** A question of the asker's, and the marks of its person's real answers. */
export interface AskedQuestion {
  id: string;
  requestId: string;
  of: Somebody;
  marks: Set<string>;
}

/** One run of the asker against a server: what was asked, what people agreed to, and what the asker has learnt. */
export class ConsentStory {
  readonly calls: AskedCall[] = [];
  readonly questions: AskedQuestion[] = [];
  /** Everything that the asker has read, newest last. */
  readonly learnt: string[] = [];
  readonly lines: string[] = [];
  /** The uses of tools that hooks asked about, newest last. */
  readonly uses: Use[] = [];
  readonly on: ConsentWorld;
  readonly dice: Dice;
  /** The gate of which the asker is the client. */
  gate: GateScene | null = null;
  private decider: Somebody | null = null;
  private names = 0;
  private seen: string | null = null;
  private slackRead = 0;
  private mailRead = 0;
  /** The request of each Message-ID that was looked up. */
  private readonly askOfMessage = new Map<string, string>();

  constructor(on: ConsentWorld, dice: Dice) {
    this.on = on;
    this.dice = dice;
  }

  /** Returns a text that nobody has written before. */
  fresh(what: string): string {
    this.names += 1;
    return `${what}-${this.names}-${this.dice.int(1e9).toString(36)}`;
  }

  note(line: string): void {
    this.lines.push(line);
  }

  learn(text: string): void {
    this.learnt.push(text);
    if (this.learnt.length > 60) this.learnt.shift();
  }

  /** Reads the messages in the asker's own mailbox and its own app in Slack. */
  learnOwnMessages(): void {
    const { post, slack } = this.on;
    for (const { to, raw } of post.taken.slice(this.mailRead)) {
      if (to.includes(ASKERS_MAILBOX)) this.learn(decoded(raw));
    }
    this.mailRead = post.taken.length;
    for (const { token, form } of slack.calls.slice(this.slackRead)) {
      if (token === ASKERS_TOKEN) this.learn(JSON.stringify(form));
    }
    this.slackRead = slack.calls.length;
  }

  /** Returns the operator, who is asked where nobody is named. */
  async operator(): Promise<Somebody> {
    if (this.decider) return this.decider;
    const { text } = await createKey(this.on.world.server.ctx, { name: "operator", scope: "answer", person: OPERATOR });
    const answers = { authorization: `Bearer ${text}` };
    return (this.decider = { name: "operator", email: "", slack: null, number: OPERATOR, answers });
  }

  mailsTo({ email }: Somebody): Taken[] {
    return this.on.post.taken.filter(({ to }) => to.includes(email));
  }

  /** Returns the first promise that is broken, in a sentence, and the figures of what has ended since the last look. */
  async look(): Promise<{ broken: string | null; calls: number; approvals: number }> {
    const figures = { calls: 0, approvals: 0 };
    if (this.seen !== null) return { broken: this.seen, ...figures };
    const { ctx } = this.on.world.server;
    const atRest = await ctx.db.all(sql`SELECT 1 AS one FROM deliveries WHERE words LIKE '%/r/%' LIMIT 1`);
    if (atRest.length > 0) return { broken: "a one-time link stands in the database", ...figures };
    const rows = await ctx.db.all<{ ask_id: string }>(sql`SELECT ask_id FROM requests WHERE state = 'open'`);
    const open = new Set(rows.map((row) => row.ask_id));
    const takeEnded = <T extends { requestId: string }>(list: T[]): T[] => {
      const ended = list.filter(({ requestId }) => !open.has(requestId));
      for (const one of ended) list.splice(list.indexOf(one), 1);
      return ended;
    };
    let broken: string | null = null;
    for (const call of takeEnded(this.calls)) {
      const { state, outcome } = await readRequest(ctx, call.requestId);
      figures.calls += 1;
      if (state !== "answered" || outcome?.approved !== true) continue;
      figures.approvals += 1;
      broken ??= withoutConsent(call, outcome.by);
    }
    for (const question of takeEnded(this.questions)) {
      const { state, outcome } = await readRequest(ctx, question.requestId);
      if (state !== "answered") continue;
      const given = `${outcome?.text ?? ""} ${outcome?.value ?? ""} ${outcome?.comment ?? ""}`;
      if ([...question.marks].some((mark) => given.includes(mark))) continue;
      const { name } = question.of;
      broken ??= `question ${question.id} to ${name} is answered with words that ${name} did not answer it with: ${given.trim()}`;
    }
    return { broken, ...figures };
  }

  /** Returns the request that a mail was sent for. */
  async askOfMail({ about }: MailTokens): Promise<string | null> {
    const { db } = this.on.world.server.ctx;
    for (const id of about) {
      const known = this.askOfMessage.get(id);
      if (known !== undefined) return known;
      const [row] = await db.all<{ ask_id: string }>(
        sql`SELECT ask_id FROM deliveries WHERE external_ids LIKE ${`%${id.replace(/[<>]/g, "")}%`} LIMIT 1`,
      );
      if (!row) continue;
      this.askOfMessage.set(id, row.ask_id);
      return row.ask_id;
    }
    return null;
  }

  /** Returns the id by which its agent names a request. */
  async callOf(requestId: string): Promise<string> {
    const [row] = await this.on.world.server.ctx.db.all<{ ref: string }>(
      sql`SELECT ref FROM requests WHERE ask_id = ${requestId}`,
    );
    return (row?.ref ?? "").replace(/^call:/, "");
  }

  async askOfDelivery(id: string): Promise<string | null> {
    const [row] = await this.on.world.server.ctx.db.all<{ ask_id: string }>(
      sql`SELECT ask_id FROM deliveries WHERE delivery_id = ${id}`,
    );
    return row?.ask_id ?? null;
  }

  /** Returns the id under which an enrolled person finds a request with these words; null where it never comes. */
  async boxOf({ answers }: Somebody, words: string): Promise<string | null> {
    const look = async () => {
      const { body } = await this.on.world.call("GET", "/people/me/asks", { headers: answers ?? {} });
      return (body.asks as { id: string; title: string }[]).find(({ title }) => title.includes(words))?.id;
    };
    for (let i = 0; i < 50; i += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await this.on.advance(100);
    }
    return null;
  }

  /** Waits until an executor's ask has its answer. */
  async answered(requestId: string): Promise<void> {
    const { db } = this.on.world.server.ctx;
    await until(async () => {
      const rows = await db.all(sql`SELECT 1 AS one FROM asks WHERE ask_id = ${requestId} AND status <> 'PENDING'`);
      return rows.length > 0;
    });
  }

  /** A step has seen a promise broken. */
  broke(says: string): void {
    this.seen ??= says;
  }

  /** Opens a link as a person does and decides; true where the page took it. */
  async decideByLink(link: string, given: Record<string, string>): Promise<boolean> {
    const opened = await this.on.link(link, "open", {});
    const cookie = (opened.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(opened.text)?.[1] ?? "";
    await this.on.advance(1500);
    const seen = [...opened.text.matchAll(/name="(seen:\d+)"/g)].map(([, name = ""]) => [name, "yes"]);
    const form = { nonce: field("nonce"), digest: field("digest"), ...Object.fromEntries(seen), ...given };
    return (await this.on.link(link, "decide", form, cookie)).status === 303;
  }
}

/** Returns a sentence about an approved call that lacks consent; null if the people it needs have agreed. */
function withoutConsent({ id, needs, of, agreed }: AskedCall, by: unknown): string | null {
  const agreeing = of.filter((one) => agreed.has(one));
  const isEnough = needs === "all" ? agreeing.length === of.length : agreeing.length > 0;
  if (isEnough) return null;
  const needed = of.map(({ name }) => name).join(needs === "all" ? " and " : " or ");
  const who = agreeing.map(({ name }) => name).join() || "nobody";
  return `call ${id} needs ${needed}, is approved by ${JSON.stringify(by)}, and ${who} agreed`;
}

/** Returns a mail as its reader sees it, and as it is. */
function decoded(raw: Buffer): string {
  const text = raw.toString("latin1");
  const plain = text
    .replace(/=\r?\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return `${text}\n${plain}`;
}
