/** The steps of people. */
import fc from "fast-check";
import * as people from "./model-people.ts";
import type { Caller, Given } from "./model-rules.ts";
import { agent, caller, callerOf, idOf, sometimes, steps, which } from "./model-step.ts";
import { create, TAGS } from "./model-steps-agents.ts";
import type { Story } from "./model-story.ts";

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

async function give(story: Story, who: Caller, { id, given, key }: people.SentAnswer): Promise<void> {
  story.given.push({ who, id, given, key });
  const headers = { ...story.headersOf(who), ...(key !== undefined && { "idempotency-key": key }) };
  const body = { question_id: id, ...given };
  await story.exchange(
    { method: "POST", path: "/human/responses", headers, body },
    () => people.answer(story.model, who, { id, given, key }),
    who.name,
  );
}

/** Answers, good, bad, again and very many. */
export const answering = [
  steps(
    12,
    "answer",
    fc.record({
      caller,
      which,
      given: fc.constantFrom(...GOOD),
      key: sometimes(fc.constantFrom("a1", "a2"), 1),
      asAgent: sometimes(agent, 1),
    }),
    async (story, args) => {
      const id = idOf(story, args.which);
      if (id === undefined) return;
      // Now and then an agent's own tool answers.
      const asAgent = args.which % 5 === 0 && args.asAgent !== undefined ? { asAgent: story.agent(args.asAgent) } : {};
      await give(story, { ...callerOf(story, args.caller), ...asAgent }, { id, given: args.given, key: args.key });
    },
  ),
  steps(
    3,
    "answer badly",
    fc.record({ caller, which, given: fc.constantFrom(...BAD), key: sometimes(fc.constant("a1")) }),
    async (story, args) => {
      const id = idOf(story, args.which);
      if (id !== undefined) await give(story, callerOf(story, args.caller), { id, given: args.given, key: args.key });
    },
  ),
  steps(
    5,
    "answer again",
    fc.record({ which, change: fc.constantFrom("none", "none", "body", "key") }),
    async (story, args) => {
      // Mostly the last one: that is what a client repeats.
      const before = story.given.at(args.which < 20 ? -1 : -args.which % story.given.length);
      if (!before) return;
      // Whether retention has taken it yet is not for a model to know.
      const ask = story.model.asks.get(before.id);
      if (ask && story.model.isOutlived(ask)) return;
      const given = args.change === "body" ? { ...before.given, confidence: 1 } : before.given;
      await give(story, before.who, { id: before.id, given, key: args.change === "key" ? undefined : before.key });
    },
  ),
  steps(
    1,
    "spree",
    fc.record({
      caller,
      agent,
      count: fc.constantFrom(1, 3, 6, 12, 26),
      tag: fc.constantFrom(...TAGS),
      views: fc.boolean(),
    }),
    async (story, args) => {
      const who = callerOf(story, args.caller);
      for (let i = 0; i < args.count; i += 1) {
        const sent = { prompt: "One of very many questions", type: "text", audience: [args.tag], min_responses: 1 };
        const before = story.asked.length;
        await create(story, args.agent, { sent, meant: { ...sent, timeout_seconds: 3600, share_results: true } });
        const id = story.asked[before];
        if (id === undefined) return;
        if (args.views) await look(story, who, `/human/questions/${id}`, () => people.view(story.model, who, id));
        await give(story, who, { id, given: { answer: "Yes.", confidence: 5 } });
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

/** The steps in which people read or skip questions. */
export const looking = [
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
