/** One recorded ask: what an executor sends, and what else its job holds. */
export interface RecordedAsk {
  prompt: string;
  envelope: object;
  /** Everything the job knows, of which the ask needs a part. */
  job: { spec: string; facts: Readonly<Record<string, unknown>>; tools: readonly object[] };
}

const AREAS = ["billing", "search", "checkout", "stock", "mail", "reports"];
const QUESTIONS = [
  "Which currency does the export of AREA use?",
  "Should AREA round half up or half to even?",
  "Which of the two date formats does AREA write?",
  "May the AREA job skip rows without an owner?",
  "Who reads the summary of AREA?",
  "How long are files of AREA kept?",
  "Which encoding do the files of AREA have?",
  "What does AREA do with a row it has seen before?",
  "Is the order of rows in AREA of importance?",
  "Which time zone are the times of AREA in?",
];

const STEPS = Array.from(
  { length: 24 },
  (_, i) =>
    `${i + 1}. Look at the module ${AREAS[i % AREAS.length]}, find where it reads its settings, and write a test that fails for the wrong ones before anything is changed.`,
).join("\n");

const TOOLS = Array.from({ length: 12 }, (_, i) => ({
  name: `tool_${i}`,
  description: `Reads one kind of thing of the repository, number ${i}, and returns at most one hundred of them in a list.`,
  input_schema: {
    type: "object",
    properties: { path: { type: "string" }, limit: { type: "integer", minimum: 1, maximum: 100 } },
    required: ["path"],
  },
}));

/** Sixty asks, ten of each of six areas, with the facts that each needs. */
export function recordedAsks(): RecordedAsk[] {
  return AREAS.flatMap((area) =>
    QUESTIONS.map((question) => {
      const facts = Object.fromEntries(
        AREAS.map((one) => [
          one,
          {
            owner: `team-${one}`,
            files: 120 + one.length,
            currency: "EUR",
            note: `The module ${one} was moved last year.`,
          },
        ]),
      );
      const own = facts[area];
      return {
        prompt: question.replace("AREA", area),
        envelope: { job_snapshot: { repo: "shop", env_profile: "dev" }, facts: { [area]: own }, role: "default" },
        job: { spec: STEPS, facts, tools: TOOLS },
      };
    }),
  );
}

/** Returns the prompt of an executor that hands over everything: the whole job, all facts, all tools. */
export function wholePrompt({ prompt, job }: RecordedAsk): string {
  const { spec, facts, tools } = job;
  return `You help with this job.\n\n${spec}\n\nFacts:\n${JSON.stringify(facts)}\n\nTools:\n${JSON.stringify(tools)}\n\nQuestion: ${prompt}`;
}
