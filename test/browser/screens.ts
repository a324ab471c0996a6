import { Parley } from "@parley/sdk";
import { People } from "@parley/sdk/people";
import type { NewQuestion } from "@parley/sdk/wire";
import type { Browser, Page } from "playwright-core";
import type { Served } from "./served.ts";
import { atRest, type Look, type Visitor, pick, readyForOffline, visit } from "./visitor.ts";

/** Questions such as agents ask, the first three of which already have some answers. */
const QUESTIONS: readonly NewQuestion[] = [
  {
    prompt:
      "A customer asks for a refund two days after the deadline because she was in hospital. What would you write?",
    audience: ["ethics", "general"],
    min_responses: 4,
    timeout_seconds: 2400,
  },
  {
    prompt: "Which label tells you most clearly that your order is placed when you press it?",
    options: ["Place order", "Pay now", "Submit", "Continue"],
    audience: ["product"],
    min_responses: 6,
    timeout_seconds: 1800,
  },
  {
    prompt: "Should a nightly backup that takes longer than two hours be stopped, or be left to finish?",
    options: ["Stop it", "Let it finish", "Ask somebody"],
    audience: ["technical"],
    min_responses: 9,
    timeout_seconds: 7200,
  },
  {
    prompt: "Give this small robot vacuum a name that a child would like.",
    audience: ["creative"],
    min_responses: 10,
    timeout_seconds: 43_200,
  },
  {
    prompt: "Friendly or cold? “Your request has been received and will be processed.”",
    options: ["Friendly", "Cold", "Neither"],
    min_responses: 5,
    timeout_seconds: 900,
  },
];
const REFUND = /refund/;
const ORDER = /order is placed/;
const BACKUP = /nightly backup/;
const CODE = `Which name fits this function?

\`\`\`ts
function f(lines: Line[]): number {
  return lines.reduce((sum, line) => sum + line.price, 0);
}
\`\`\``;

/** A server on which agents have asked and a few people have answered; with `places`, there is room for many more. */
export async function fill(served: Pick<Served, "url">, { places }: { places?: number } = {}): Promise<void> {
  const agent = new Parley({ url: served.url });
  const asked = [];
  for (const question of QUESTIONS) {
    asked.push((await agent.ask({ ...question, ...(places && { min_responses: places }) })).question_id);
  }
  const [refund = "", order = "", backup = ""] = asked;
  const people = Array.from({ length: 3 }, () => new People({ url: served.url }));
  const words = [
    "I am sorry to hear that you were in hospital. Of course we refund you.",
    "Deadlines are for ordinary days, and this was not one. Your money is on its way.",
  ];
  for (const [index, person] of people.entries()) {
    await person.answer({ question_id: order, selected_option: [0, 1, 0][index] ?? 0, confidence: 4 });
    await person.answer({ question_id: backup, selected_option: index });
    const answer = words[index];
    if (answer !== undefined) await person.answer({ question_id: refund, answer });
  }
}

/** One look of the app, and how to get there from the list of questions. */
export interface View {
  name: string;
  open(visitor: Visitor, served: Served): Promise<void>;
}

const openQuestion = async ({ page }: Visitor, prompt: RegExp): Promise<void> => {
  await pick(page, prompt);
  await page.getByRole("heading", { level: 1, name: prompt }).waitFor();
};
const openList = async ({ page }: Visitor): Promise<void> => {
  if ((page.viewportSize()?.width ?? 0) < 960) await page.getByRole("button", { name: /^Questions/ }).click();
  await page.getByRole("link").filter({ hasText: ORDER }).waitFor();
};
const heading = ({ page }: Visitor, name: string | RegExp): Promise<void> =>
  page.getByRole("heading", { name }).first().waitFor();
const press = ({ page }: Visitor, name: string | RegExp): Promise<void> =>
  page.getByRole("button", { name }).last().click();

const choose = async (visitor: Visitor): Promise<void> => {
  await openQuestion(visitor, ORDER);
  await visitor.page.getByLabel("Sure", { exact: true }).locator("..").click();
};
const chooseAndSend = async (visitor: Visitor): Promise<void> => {
  await choose(visitor);
  await visitor.page.getByText("Place order", { exact: true }).click();
};
const write = async (visitor: Visitor): Promise<void> => {
  await openQuestion(visitor, REFUND);
  await visitor.page.getByLabel("Your answer").fill("Get well first; the refund is done already.");
};

/** From now on the page keeps a choice that can be taken back, and never comes to sending it. */
const holdSending = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const start = window.setTimeout.bind(window);
    const isMoment = (ms = 0): boolean => ms >= 500 && ms <= 1000;
    const held = (run: () => void, ms?: number): number => (isMoment(ms) ? 0 : start(run, ms));
    window.setTimeout = held as typeof window.setTimeout;
  });

/** Every screen of the Answer room, and the Console's door. */
export const VIEWS: readonly View[] = [
  { name: "feed", open: openList },
  { name: "question", open: choose },
  {
    name: "question-undone",
    async open(visitor) {
      const { page } = visitor;
      await openQuestion(visitor, ORDER);
      // An option that is chosen and not sent, as Undo leaves it, is a draft.
      await page.evaluate(() => {
        localStorage.setItem(`parley.draft.${location.pathname.slice(3)}`, '{"selected_option":0}');
      });
      await page.reload();
      await page.getByRole("button", { name: "Send", disabled: false }).waitFor();
    },
  },
  {
    name: "question-sending",
    async open(visitor) {
      const { page } = visitor;
      await openQuestion(visitor, BACKUP);
      const option = page.getByText("Let it finish", { exact: true });
      // Options take a press after half a second, a moment that would be held too.
      await option.click({ trial: true });
      await holdSending(page);
      await option.click();
      await page.getByRole("button", { name: "Undo" }).waitFor();
    },
  },
  {
    name: "question-code",
    async open(visitor, served) {
      const agent = new Parley({ url: served.url });
      const { question_id: id } = await agent.ask({ prompt: CODE, options: ["total", "priceOf"] });
      await visitor.page.goto(`/q/${id}`);
      await heading(visitor, /Which name fits/);
    },
  },
  { name: "question-text", open: write },
  {
    name: "result",
    async open(visitor) {
      await chooseAndSend(visitor);
      await visitor.page.getByText("+5 points").waitFor();
      await visitor.page.getByText(/answers so far/).waitFor();
    },
  },
  {
    name: "result-text",
    async open(visitor) {
      await write(visitor);
      await press(visitor, /^Send/);
      await visitor.page.getByText("Deadlines are for ordinary days").waitFor();
    },
  },
  {
    name: "report",
    async open(visitor) {
      await openQuestion(visitor, REFUND);
      await press(visitor, "Report");
      await visitor.page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "me",
    async open(visitor) {
      await chooseAndSend(visitor);
      await visitor.page.getByText("+5 points").waitFor();
      await visitor.page.goto("/me");
      await visitor.page.getByText("Points, 5 today").waitFor();
    },
  },
  {
    name: "me-new",
    async open(visitor) {
      await visitor.page.goto("/me");
      await press(visitor, "Make a code");
      await visitor.page.getByRole("region", { name: "Your code" }).waitFor();
      await visitor.page.getByText("Show all badges").click();
    },
  },
  {
    name: "leaderboard",
    async open(visitor) {
      await visitor.page.goto("/leaderboard");
      await visitor.page.getByRole("cell", { name: "Someone" }).first().waitFor();
    },
  },
  {
    name: "closed",
    async open(visitor, served) {
      const agent = new Parley({ url: served.url });
      const { question_id: id } = await agent.ask({ prompt: "Is this one already over?" });
      await agent.cancel(id);
      await visitor.page.goto(`/q/${id}`);
      await heading(visitor, "This question takes no more answers");
    },
  },
  {
    name: "not-found",
    async open(visitor) {
      await visitor.page.goto("/q/q_nothing");
      await heading(visitor, "There is no such question");
    },
  },
  {
    name: "empty",
    async open(visitor) {
      await openList(visitor);
      await visitor.page.getByLabel("Topic").selectOption("Creative");
      await visitor.page.getByRole("link").filter({ hasText: "robot" }).click();
      await heading(visitor, /robot/);
      await visitor.page.getByRole("button", { name: "Skip", disabled: false }).click();
      await heading(visitor, "Nothing to answer in this topic");
    },
  },
  {
    name: "waiting",
    async open(visitor) {
      await readyForOffline(visitor.page);
      await write(visitor);
      await visitor.context.setOffline(true);
      await press(visitor, /^Send/);
      await heading(visitor, "Written, not sent yet");
      await openList(visitor);
      await visitor.page.getByText("1 answer waits to be sent").waitFor();
    },
  },
  {
    name: "console",
    async open(visitor, served) {
      await visitor.page.goto(await served.newStartLink());
      await heading(visitor, "Connect an agent");
      await visitor.page.getByText("Everything holds").waitFor();
    },
  },
  {
    name: "console-signed-out",
    async open(visitor) {
      await visitor.page.goto("/console");
      await heading(visitor, "Nobody is signed in");
    },
  },
];

/** Shows one view to somebody with a fresh profile. */
export async function show(browser: Browser, served: Served, view: View, look: Look): Promise<Visitor> {
  const visitor = await visit(browser, served.url, look);
  try {
    // Some question opens by itself, and with it the list is read.
    await visitor.page.waitForURL(/\/q\//);
    await view.open(visitor, served);
    await atRest(visitor.page);
    return visitor;
  } catch (error) {
    await visitor.context.close();
    throw error;
  }
}
