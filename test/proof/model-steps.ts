/** Everything that can be done in a story, as fast-check draws it. */
import fc from "fast-check";
import * as people from "./model-people.ts";
import { DAY, HOUR } from "./model-points.ts";
import type { Caller, Given, Question } from "./model-rules.ts";
import type { Story } from "./model-story.ts";

const UNKNOWN = "q_0000000000000000000000";
const MINUTE = 60_000;

/** A step with its arguments; `run` does it to the servers and to the model, and throws where they differ. */
export class Step implements fc.AsyncCommand<Story, object> {
  private readonly kind: string;
  private readonly args: unknown;
  private readonly act: (story: Story) => Promise<unknown>;

  constructor(kind: string, args: unknown, act: (story: Story) => Promise<unknown>) {
    this.kind = kind;
    this.args = args;
    this.act = act;
  }

  check(): boolean {
    return true;
  }

  async run(story: Story): Promise<void> {
    await this.act(story);
  }

  toString(): string {
    return `${this.kind} ${JSON.stringify(this.args)}`;
  }
}

/** Steps of one kind, drawn `weight` times as often as those of weight 1. */
function steps<Args>(
  weight: number,
  kind: string,
  args: fc.Arbitrary<Args>,
  act: (story: Story, args: Args) => Promise<unknown>,
): fc.WeightedArbitrary<Step> {
  return { weight, arbitrary: args.map((given) => new Step(kind, given, (story) => act(story, given))) };
}

// What is drawn again and again

const which = fc.nat({ max: 30 });
const agent = fc.nat({ max: 1 });
const sometimes = <T>(arbitrary: fc.Arbitrary<T>, frequency = 3) =>
  fc.option(arbitrary, { nil: undefined, freq: frequency });
const caller = fc.record({
  person: fc.nat({ max: 2 }),
  zone: sometimes(fc.constantFrom("Asia/Tokyo", "Pacific/Honolulu", "Nowhere/At_All"), 1),
});

function callerOf(story: Story, { person, zone }: { person: number; zone?: string | undefined }): Caller {
  const one = story.people[person];
  if (!one) throw new Error("nobody");
  return { ...one, ...(zone !== undefined && { zone }) };
}

const own = (story: Story, number: number) => ({ headers: { "x-agent-id": story.agent(number) } });

/** The id of a question, or of none where there is none. */
function idOf(story: Story, number: number): string | undefined {
  return number === 30 ? UNKNOWN : story.ask(number)?.id;
}

// Asking

const question = fc.record({
  prompt: fc.constantFrom("Which label is clearer?", "Welche Aufschrift ist klarer? 🐦", "  padded prompt  "),
  options: sometimes(fc.constantFrom(["Send", "Submit"], ["10", "9", "__proto__"]), 2),
  audience: sometimes(fc.constantFrom([], ["product"], ["ethics", "technical", "ethics"], ["creative", "general"])),
  min_responses: sometimes(fc.constantFrom(1, 2, 3, 50), 5),
  timeout_seconds: sometimes(fc.constantFrom(60, 61, 300, 86_400)),
  share_results: sometimes(fc.boolean(), 1),
});
type Sent = typeof question extends fc.Arbitrary<infer T> ? T : never;

function meaningOf(sent: Sent): Question {
  const audience = [...new Set(sent.audience ?? [])];
  return {
    prompt: sent.prompt,
    type: sent.options ? "multiple_choice" : "text",
    ...(sent.options && { options: sent.options }),
    audience: audience.length > 0 ? audience : ["general"],
    min_responses: sent.min_responses ?? 5,
    timeout_seconds: sent.timeout_seconds ?? 3600,
    share_results: sent.share_results ?? true,
  };
}

const range = (field: string, min: number, max: number) => ({
  message: `${field} must be between ${min} and ${max}`,
  details: { field, constraint: "range", min, max },
});
const TAGS = ["technical", "product", "ethics", "creative", "general"];
const TYPES = ["text", "multiple_choice"];

/** What is wrong with a body, and what is said of it (contract, section 10). */
const FLAWS: readonly { body: object; message?: string; details: object }[] = [
  {
    body: { prompt: "Too short" },
    message: "prompt must be between 10 and 2000 characters",
    details: { field: "prompt", constraint: "length", min: 10, max: 2000 },
  },
  { body: { prompt: 5 }, message: "prompt must be a string", details: { field: "prompt", constraint: "type" } },
  {
    body: { type: "poll" },
    message: "type must be text or multiple_choice",
    details: { field: "type", constraint: "enum", allowed: TYPES },
  },
  {
    body: { type: "multiple_choice", options: ["only one"] },
    message: "options must have between 2 and 10 items",
    details: { field: "options", constraint: "length", min: 2, max: 10 },
  },
  {
    body: { type: "multiple_choice", options: ["same", " same "] },
    message: people.ANY,
    details: { field: "options", constraint: "unique" },
  },
  {
    body: { audience: ["vip"] },
    message: people.ANY,
    details: { field: "audience", constraint: "enum", allowed: TAGS },
  },
  { body: { min_responses: 0 }, ...range("min_responses", 1, 50) },
  {
    body: { min_responses: true },
    message: "min_responses must be an integer",
    details: { field: "min_responses", constraint: "type" },
  },
  { body: { timeout_seconds: 86_401 }, ...range("timeout_seconds", 60, 86_400) },
  {
    body: { min_responses: 51, timeout_seconds: 59 },
    message: "min_responses must be between 1 and 50",
    details: {
      ...range("min_responses", 1, 50).details,
      errors: [range("min_responses", 1, 50).details, range("timeout_seconds", 60, 86_400).details],
    },
  },
];

async function create(
  story: Story,
  number: number,
  sent: object,
  meant: Question,
  key?: string,
  flaw?: object,
): Promise<void> {
  const { model } = story;
  const name = story.agent(number);
  const expected = await story.exchange(
    { method: "POST", path: "/agent/questions", body: sent, ...own(story, number) },
    () => model.create(name, { question: meant, ...(key !== undefined && { key }), ...(flaw && { flaw }) }),
  );
  if (expected.made === undefined) return;
  story.asked.push(expected.made);
  if (key !== undefined) story.keyed.push({ agent: name, key, body: sent, question: meant });
}

const typed = (sent: Sent) => ({ type: sent.options ? "multiple_choice" : "text", ...sent });

const asking = [
  steps(
    7,
    "create",
    fc.record({ agent, question, key: sometimes(fc.constantFrom("k1", "k2"), 2) }),
    async (story, args) =>
      create(
        story,
        args.agent,
        { ...typed(args.question), idempotency_key: args.key },
        meaningOf(args.question),
        args.key,
      ),
  ),
  steps(1, "create badly", fc.record({ agent, question, flaw: fc.constantFrom(...FLAWS) }), async (story, args) => {
    const { body, message, details } = args.flaw;
    const sent = { ...typed(args.question), idempotency_key: "k1", ...body };
    return create(story, args.agent, sent, meaningOf(args.question), "k1", {
      code: "VALIDATION_ERROR",
      message,
      details,
    });
  }),
  steps(
    4,
    "retry",
    fc.record({ which, change: fc.constantFrom("none", "none", "defaults", "body") }),
    async (story, args) => {
      const keyed = story.keyed[args.which % story.keyed.length];
      if (!keyed) return;
      const { body, question: meant } = keyed;
      const changed = { ...meant, min_responses: meant.min_responses === 4 ? 5 : 4 };
      const spelled = {
        none: body,
        defaults: { ...meant, idempotency_key: keyed.key },
        body: { ...body, min_responses: changed.min_responses },
      };
      const number = story.agents.indexOf(keyed.agent);
      await create(story, number, spelled[args.change], args.change === "body" ? changed : meant, keyed.key);
    },
  ),
];

// Reading and cancelling

const STATUSES = ["OPEN", "PARTIAL", "CLOSED", "EXPIRED"];

const reading = [
  steps(
    4,
    "poll",
    fc.record({ agent, which, query: fc.constantFrom("", "?wait=0", "?expand=meta", "?wait=0&after=0") }),
    async (story, args) => {
      const id = idOf(story, args.which);
      if (id === undefined) return;
      const { model } = story;
      const name = story.agent(args.agent);
      await story.exchange(
        { method: "GET", path: `/agent/questions/${id}${args.query}`, ...own(story, args.agent) },
        () => {
          const headers = model.countRead(name);
          const ask = model.own(name, id);
          if (!ask) return model.unknown(id, headers);
          return { status: 200, body: model.shown(ask, { expand: args.query.includes("meta") }), headers };
        },
      );
    },
  ),
  steps(1, "wait for what is there", fc.record({ which }), async (story, args) => {
    const ask = story.ask(args.which);
    const { model } = story;
    // Clocks stand still here, so that only a wait that is over at once comes to an end.
    if (!ask || !(model.isFinal(ask) || ask.responses.length > 0)) return;
    const number = story.agents.indexOf(ask.agent);
    const path = `/agent/questions/${ask.id}?wait=20&after=${Math.max(0, ask.responses.length - 1)}`;
    await story.exchange({ method: "GET", path, ...own(story, number) }, () => {
      return { status: 200, headers: model.countRead(ask.agent), body: model.shown(ask) };
    });
  }),
  steps(
    2,
    "batch",
    fc.record({ agent, which: fc.array(which, { minLength: 1, maxLength: 5 }) }),
    async (story, args) => {
      const ids = [...new Set(args.which.flatMap((number) => idOf(story, number) ?? []))];
      if (ids.length === 0) return;
      const { model } = story;
      const name = story.agent(args.agent);
      await story.exchange(
        { method: "GET", path: `/agent/questions?ids=${ids.join(",")}`, ...own(story, args.agent) },
        () => {
          const found = ids.flatMap((id) => model.own(name, id) ?? []);
          const body = {
            questions: found.map((ask) => model.shown(ask)),
            not_found: ids.filter((id) => !model.own(name, id)),
          };
          return { status: 200, body, headers: model.countRead(name) };
        },
      );
    },
  ),
  steps(
    2,
    "list",
    fc.record({ agent, status: fc.subarray(STATUSES), limit: fc.constantFrom(1, 2, 5) }),
    async (story, args) => {
      const { model } = story;
      const name = story.agent(args.agent);
      const mine = story.asked.flatMap((id) => model.own(name, id) ?? []);
      if (mine.some((ask) => model.isOutlived(ask))) return;
      const query = `?limit=${args.limit}${args.status.length > 0 ? `&status=${args.status.join(",")}` : ""}`;
      let shown = 0;
      let isLast = false;
      while (!isLast) {
        const path = `/agent/questions${query}${shown > 0 ? "&cursor={cursor}" : ""}`;
        await story.exchange({ method: "GET", path, ...own(story, args.agent) }, () => {
          const wanted = mine
            .filter((ask) => args.status.length === 0 || args.status.includes(model.statusOf(ask)))
            .reverse();
          // What was on an earlier page may have another status by now; what follows it is the same.
          const page = wanted.slice(shown, shown + args.limit);
          shown += page.length;
          isLast = wanted.length <= shown;
          const body = { questions: page.map((ask) => model.shown(ask)), next_cursor: isLast ? null : "{cursor}" };
          return { status: 200, body, headers: model.countRead(name) };
        });
      }
    },
  ),
  steps(2, "cancel", fc.record({ agent, which }), async (story, args) => {
    const id = idOf(story, args.which);
    if (id === undefined) return;
    const request = { method: "DELETE", path: `/agent/questions/${id}`, ...own(story, args.agent) };
    await story.exchange(request, () => story.model.cancel(story.agent(args.agent), id));
  }),
];

// Answering

const GOOD: readonly Given[] = [
  { answer: "Send.", selected_option: 0 },
  { answer: "x".repeat(101), selected_option: 1, confidence: 5 },
  { answer: "  both  ", selected_option: 1, confidence: 4 },
];
const BAD: readonly Given[] = [
  {},
  { answer: "   ", selected_option: -1 },
  { answer: 5, selected_option: "0", confidence: 6 },
  { answer: "x".repeat(5001), selected_option: 3 },
  { answer: "Send.", selected_option: true, confidence: "4" },
  { answer: "Send.", selected_option: 0, confidence: 2.5 },
];

async function give(story: Story, who: Caller, id: string, given: Given, key?: string): Promise<void> {
  const headers = { ...story.headersOf(who), ...(key !== undefined && { "idempotency-key": key }) };
  const body = { question_id: id, ...given };
  await story.exchange(
    { method: "POST", path: "/human/responses", headers, body },
    () => people.answer(story.model, who, id, given, key),
    who.name,
  );
}

const answering = [
  steps(
    12,
    "answer",
    fc.record({
      ...{ caller, which, given: fc.constantFrom(...GOOD), key: sometimes(fc.constantFrom("a1", "a2"), 1) },
      asAgent: sometimes(agent, 1),
    }),
    async (story, args) => {
      const id = idOf(story, args.which);
      if (id === undefined) return;
      // Now and then an agent's own tool answers.
      const asAgent = args.which % 5 === 0 && args.asAgent !== undefined ? { asAgent: story.agent(args.asAgent) } : {};
      await give(story, { ...callerOf(story, args.caller), ...asAgent }, id, args.given, args.key);
    },
  ),
  steps(
    3,
    "answer badly",
    fc.record({ caller, which, given: fc.constantFrom(...BAD), key: sometimes(fc.constant("a1")) }),
    async (story, args) => {
      const id = idOf(story, args.which);
      if (id !== undefined) await give(story, callerOf(story, args.caller), id, args.given, args.key);
    },
  ),
  steps(
    1,
    "spree",
    fc.record({
      caller,
      agent,
      count: fc.constantFrom(3, 6, 12, 26),
      tag: fc.constantFrom(...TAGS),
      views: fc.boolean(),
    }),
    async (story, args) => {
      const who = callerOf(story, args.caller);
      for (let i = 0; i < args.count; i += 1) {
        const sent = { prompt: "One of very many questions", type: "text", audience: [args.tag], min_responses: 1 };
        const before = story.asked.length;
        await create(story, args.agent, sent, { ...sent, timeout_seconds: 3600, share_results: true });
        const id = story.asked[before];
        if (id === undefined) return;
        if (args.views) await look(story, who, `/human/questions/${id}`, () => people.view(story.model, who, id));
        await give(story, who, id, { answer: "Yes.", confidence: 5 });
      }
    },
  ),
];

async function look(
  story: Story,
  who: Caller,
  path: string,
  expected: () => ReturnType<typeof people.view>,
): Promise<void> {
  await story.exchange({ method: "GET", path, headers: story.headersOf(who) }, expected, who.name);
}

const looking = [
  ...(["view", "results"] as const).map((kind) =>
    steps(2, kind, fc.record({ caller, which }), async (story, args) => {
      const id = idOf(story, args.which);
      const who = callerOf(story, args.caller);
      const path = `/human/questions/${id}${kind === "view" ? "" : "/results"}`;
      if (id !== undefined) await look(story, who, path, () => people[kind](story.model, who, id));
    }),
  ),
  ...(["skip", "report"] as const).map((kind) =>
    steps(1, kind, fc.record({ caller, which }), async (story, args) => {
      const id = idOf(story, args.which);
      if (id === undefined) return;
      const who = callerOf(story, args.caller);
      const body = kind === "report" ? { body: { reason: "unclear" } } : {};
      const request = {
        method: "POST",
        path: `/human/questions/${id}/${kind}`,
        headers: story.headersOf(who),
        ...body,
      };
      await story.exchange(request, () => people[kind](story.model, who, id), who.name);
    }),
  ),
  steps(2, "feed", fc.record({ caller, tags: fc.subarray(TAGS, { maxLength: 2 }) }), async (story, args) => {
    const who = callerOf(story, args.caller);
    const open = [...story.model.asks.values()].filter((ask) => !story.model.isFinal(ask));
    if (open.length > 50) return;
    const query = args.tags.length > 0 ? `&audience=${args.tags.join(",")}` : "";
    await look(story, who, `/human/questions?limit=50${query}`, () => people.feed(story.model, who, args.tags));
  }),
  steps(2, "stats", fc.record({ caller }), async (story, args) => {
    const who = callerOf(story, args.caller);
    await look(story, who, "/human/stats", () => people.stats(story.model, who));
  }),
  steps(
    2,
    "leaderboard",
    fc.record({
      caller,
      period: fc.constantFrom("daily", "weekly", "all_time", "yearly"),
      limit: sometimes(fc.constantFrom("0", "2", "1000"), 1),
    }),
    async (story, args) => {
      const who = callerOf(story, args.caller);
      const path = `/human/leaderboard?period=${args.period}${args.limit === undefined ? "" : `&limit=${args.limit}`}`;
      await look(story, who, path, () => people.leaderboard(story.model, who, args.period, args.limit));
    },
  ),
];

// Time

async function advance(story: Story, ms: number, asleep: boolean): Promise<void> {
  if (ms <= 0) return;
  story.note(`advance ${ms} ms${asleep ? ", while the loops sleep" : ""}`);
  story.model.now += ms;
  await story.pair.advance(ms, asleep);
}

const around = fc.integer({ min: -3, max: 2 });
const asleep = fc.boolean();

const passing = [
  steps(
    2,
    "a while",
    fc.record({ ms: fc.constantFrom(500, 20_000, 30_000, 2 * MINUTE, 16 * MINUTE), asleep }),
    async (story, args) => advance(story, args.ms, args.asleep),
  ),
  steps(3, "to a deadline", fc.record({ which, around, asleep }), async (story, args) => {
    const ask = story.ask(args.which);
    if (ask) await advance(story, ask.expiresAt + args.around - story.model.now, args.asleep);
  }),
  steps(1, "to the end of a key", fc.record({ which, around, asleep }), async (story, args) => {
    const { keys, answerKeys } = story.model;
    const ends = [...keys, ...answerKeys]
      .filter(([, { until }]) => until > story.model.now)
      .map(([, { until }]) => until);
    const end = ends[args.which % ends.length];
    if (end !== undefined) await advance(story, end + args.around - story.model.now, args.asleep);
  }),
  steps(
    1,
    "to the next hour or day",
    fc.record({ unit: fc.constantFrom(HOUR, DAY), around, asleep }),
    async (story, args) => advance(story, args.unit - (story.model.now % args.unit) + args.around, args.asleep),
  ),
  steps(1, "days", fc.record({ days: fc.constantFrom(1, 2, 3) }), async (story, args) => {
    await advance(story, args.days * DAY, false);
    await story.pair.sweep();
    story.model.sweep();
  }),
  steps(1, "restart", fc.constant({}), async (story) => {
    story.note("restart");
    await story.pair.restart();
  }),
];

/** Up to `most` steps. */
export function storyOf(most: number): fc.Arbitrary<Iterable<fc.AsyncCommand<Story, object>>> {
  const step = fc.oneof(...asking, ...reading, ...answering, ...looking, ...passing);
  return fc.commands([step], { maxCommands: most, size: "max" });
}
