/** The words of the console's sections, and of the state beside each of their pages. */
import type { AgentState, ChannelState, LastPrompt } from "@parley/sdk/admin";
import { count, duration, isolated, number, percent } from "../../format.ts";
import { text as consoleText } from "../text.ts";

export type Group = "now" | "work" | "rules" | "setup";

export const text = {
  nav: "Overview",
  all: "All pages",
  groups: { now: "Now", work: "Work", rules: "Rules", setup: "Setup" } satisfies Record<Group, string>,
  pages: (group: string) => `Pages of ${group}`,
  loading: "…",
  unknown: "Not known now",

  waits: (n: number, oldestMs: number | null): string => {
    if (n === 0) return "Nothing waits";
    const oldest = oldestMs === null ? "" : `, oldest ${duration(oldestMs)}`;
    return `${number(n)} ${n === 1 ? "waits" : "wait"}${oldest}`;
  },
  health: (broken: number, failing: number): string => {
    const parts = [
      ...(broken > 0 ? [`${count(broken, "promise", "promises")} broken`] : []),
      ...(failing > 0 ? [`${count(failing, "delivery", "deliveries")} failing`] : []),
    ];
    return parts.length === 0 ? "Everything holds" : parts.join(", ");
  },
  today: {
    title: "Decisions",
    state: (n: number) => `${number(n)} in 24 hours`,
  },
  activity: "Activity",
  stuck: {
    title: "Stuck",
    state: (n: number, oldestMs: number | null): string =>
      n === 0 ? "Nothing" : `${number(n)} stuck${oldestMs === null ? "" : `, oldest ${duration(oldestMs)}`}`,
  },
  tasks: ({
    waiting,
    review,
    working,
    queued,
  }: Record<"waiting" | "review" | "working" | "queued", number>): string => {
    const parts = [
      ...(waiting > 0 ? [`${number(waiting)} waiting for a person`] : []),
      ...(review > 0 ? [`${number(review)} to be reviewed`] : []),
      ...(working > 0 ? [`${number(working)} in progress`] : []),
      ...(queued > 0 ? [`${number(queued)} in line`] : []),
    ];
    return parts.length === 0 ? "Nothing in progress" : parts.join(", ");
  },
  notSetUp: "Not set up",
  jobs: (n: number) => (n === 0 ? "None open" : `${number(n)} open`),
  record: (ago: string) => `Newest entry ${ago}`,
  noRecord: "Empty",
  policy: (rules: number, proposed: number) =>
    [count(rules, "rule", "rules"), ...(proposed > 0 ? [`${number(proposed)} proposed`] : [])].join(", "),
  policyMissing: "No file, the defaults hold",
  policyStale: "The file holds a mistake",
  cache: (n: number) => (n === 0 ? "Nothing kept" : `${count(n, "decision", "decisions")} kept`),
  done: (n: number, of: number) => `${number(n)} of ${number(of)} done`,
  people: (n: number, admins: number) => `${count(n, "person", "people")}, ${count(admins, "admin", "admins")}`,
  keys: (n: number) => (n === 0 ? "None" : `${number(n)} in use`),
  channels: (states: readonly ChannelState[]): string => {
    const set = states.filter(({ channel, configured }) => configured && channel !== "push");
    const ways = set.map((one) => `${consoleText.channel(one.channel)} ${text.channel(one)}`);
    return ways.length === 0 ? "None set up" : ways.join(", ");
  },
  channelFails: "fails",
  channelWorks: "works",
  channel: ({ configured, sent_at, failed, retrying }: ChannelState): string => {
    if (!configured) return "not set up";
    if (failed > 0 || retrying > 0) return text.channelFails;
    return sent_at === null ? "not tried" : text.channelWorks;
  },
  webhooks: (n: number, { disabled, failing }: { disabled: number; failing: number }) =>
    [
      n === 0 ? "None" : count(n, "address", "addresses"),
      ...(failing > 0 ? [`${number(failing)} failing`] : []),
      ...(disabled > 0 ? [`${number(disabled)} disabled`] : []),
    ].join(", "),

  waiting: {
    title: "What waits",
    failed: "The requests could not be loaded",
    at: (time: string) => `As of ${time}.`,
    none: "No request waits for anybody.",
    total: (n: number, oldestMs: number | null) =>
      `${count(n, "request waits", "requests wait")}${oldestMs === null ? "" : `, the oldest for ${duration(oldestMs)}`}.`,
    narrowed: "You see what is addressed to you; under People you can let yourself see everything.",
    whom: (names: readonly string[]) => (names.length === 0 ? "for anybody with the inbox" : `for ${names.join(", ")}`),
    andMore: (n: number) => `${number(n)} more`,
    waits: (ms: number) => `waits ${duration(ms)}`,
    left: (ms: number) => (ms <= 0 ? "time is up" : `${duration(ms)} left`),
    noDeadline: "no deadline",
    high: "High risk",
    unjudged: "Not judged",
    all: (n: number) => `Show all ${number(n)} in the inbox`,
    executors: "Executors, the last hour",
    ended: "Ended",
    rules: "By rules",
    models: "By models",
    people: "By people",
    nobody: "By nobody",
    share: (share: number) => percent(share),
  },

  agents: {
    title: "Agents",
    failed: "The agents could not be loaded",
    /** The state beside the page's name. */
    state: (n: number, { isMore, frozen }: { isMore: boolean; frozen: number }): string =>
      [
        isMore ? `More than ${number(n)} agents` : count(n, "agent", "agents"),
        ...(frozen > 0 ? [`${number(frozen)} frozen`] : []),
      ].join(", "),
    here: "Coding agents of this computer",
    says: (agents: readonly AgentState[]): string => {
      const here = agents.filter((one) => one.here);
      if (here.length === 0) return "No agent was found on this computer.";
      const through = number(here.filter(({ hook }) => hook).length);
      return `${through} of ${count(here.length, "agent", "agents")} of this computer go through Parley.`;
    },
    whose:
      "This computer is the one where the server runs, and the agents are those of its user: the console can see no others. Prompts may come from any computer.",
    hook: (hook: boolean | null): string =>
      hook === null ? "Its configuration cannot be read" : hook ? "Goes through Parley" : "Not connected",
    outcomes: {
      waiting: "waits",
      approved: "approved",
      rejected: "rejected",
      answered: "answered",
      expired: "not decided in time",
      withdrawn: "withdrawn",
    } satisfies Record<LastPrompt["outcome"], string>,
    prompt: ({ tool, outcome, by, asked_by }: LastPrompt, ago: string): string => {
      const ended = `${text.agents.outcomes[outcome]}${by === null ? "" : ` by ${isolated(by)}`}`;
      return `Last prompt ${ago}: ${tool === null ? "a question" : isolated(tool)}, ${ended}. Asked by ${isolated(asked_by)}:`;
    },
    noPrompt: "No prompt yet.",
    connect: "Connect agents",
    connectHere: "Run this on the computer where the server runs:",
    connectThere: "Run this on each computer where agents run:",
    command: "Command",
    elsewhere: "Prompts from other computers",
  },

  checklist: {
    title: "Checklist",
    done: "Done",
    open: "To do",
    people: "People who decide",
    peopleSays: (others: number) =>
      others === 0 ? "Only you. Add those who should be asked." : `You and ${count(others, "other", "others")}.`,
    messages: "Messages to them",
    messagesOpen: "Nothing reaches people outside the app until one of these works.",
    push: "Notifications on their devices",
    pushOpen: "Each person turns them on under You.",
    pushSays: "Sent.",
    keys: "Keys for programs",
    keysOpen: "Programs on this computer need none; those on others do.",
    policy: "A policy",
    policyOpen: "Without a file people decide all but reading.",
    prompts: "Prompts of agents",
    promptsElsewhere: "Prompts arrive from other computers.",
    agents: "Coding agents",
    agentsOpen: "Name a repository under repos in parley.yaml to give them tasks.",
    agentsSays: (ready: readonly string[], missing: readonly string[]) =>
      [
        ...(ready.length > 0 ? [`Ready: ${ready.join(", ")}.`] : ["None is ready."]),
        ...(missing.length > 0 ? [`Not ready: ${missing.join(", ")}.`] : []),
      ].join(" "),
  },
};

export type OverviewTexts = typeof text;
