/** The steps of agents. */
import fc from "fast-check";
import { ANY } from "./model-people.ts";
import type { Question } from "./model-rules.ts";
import { agent, idOf, own, sometimes, steps, which } from "./model-step.ts";
import type { Story } from "./model-story.ts";

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
export const TAGS = ["technical", "product", "ethics", "creative", "general"];
const TYPES = ["text", "multiple_choice"];

/** A flaw of a body, and the refusal that it gets (spec/ask-a-human 10). */
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
    message: ANY,
    details: { field: "options", constraint: "unique" },
  },
  {
    body: { audience: ["vip"] },
    message: ANY,
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

export async function create(
  story: Story,
  number: number,
  { sent, meant, key, flaw }: { sent: object; meant: Question; key?: string | undefined; flaw?: object },
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

/** Asking, well, badly and again. */
export const asking = [
  steps(
    7,
    "create",
    fc.record({ agent, question, key: sometimes(fc.constantFrom("k1", "k2"), 2) }),
    async (story, args) =>
      create(story, args.agent, {
        sent: { ...typed(args.question), idempotency_key: args.key },
        meant: meaningOf(args.question),
        key: args.key,
      }),
  ),
  steps(1, "create badly", fc.record({ agent, question, flaw: fc.constantFrom(...FLAWS) }), async (story, args) => {
    const { body, message, details } = args.flaw;
    const sent = { ...typed(args.question), idempotency_key: "k1", ...body };
    return create(story, args.agent, {
      sent,
      meant: meaningOf(args.question),
      key: "k1",
      flaw: {
        code: "VALIDATION_ERROR",
        message,
        details,
      },
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
      await create(story, number, {
        sent: spelled[args.change],
        meant: args.change === "body" ? changed : meant,
        key: keyed.key,
      });
    },
  ),
];

// Reading and cancelling

const STATUSES = ["OPEN", "PARTIAL", "CLOSED", "EXPIRED"];

/** Polls, waits that are over at once, batches, pages, and cancelling. */
export const reading = [
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
          const headers = model.readHeaders;
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
      return { status: 200, headers: model.readHeaders, body: model.shown(ask) };
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
          return { status: 200, body, headers: model.readHeaders };
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
      const isWanted = (ask: (typeof mine)[number]) =>
        args.status.length === 0 || args.status.includes(model.statusOf(ask));
      const query = `?limit=${args.limit}${args.status.length > 0 ? `&status=${args.status.join(",")}` : ""}`;
      // A page goes on after the last one shown, even where that has another status by now.
      let left = mine.reverse();
      let isFirst = true;
      let isLast = false;
      while (!isLast) {
        const path = `/agent/questions${query}${isFirst ? "" : "&cursor={cursor}"}`;
        isFirst = false;
        await story.exchange({ method: "GET", path, ...own(story, args.agent) }, () => {
          const wanted = left.filter(isWanted);
          const page = wanted.slice(0, args.limit);
          isLast = wanted.length <= args.limit;
          left = left.slice(left.findIndex((ask) => ask === page.at(-1)) + 1);
          const body = { questions: page.map((ask) => model.shown(ask)), next_cursor: isLast ? null : "{cursor}" };
          return { status: 200, body, headers: model.readHeaders };
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
