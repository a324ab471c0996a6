/** The words of the Inbox, loaded with it. */
import { count, day, duration, number } from "../format.ts";
import { moment, money } from "./exact.ts";
import type { By, Due, Kind, ListedAsk, TypedArgument, WholeAsk } from "./wire.ts";

type Ended = Pick<NonNullable<ListedAsk["outcome"]>, "status" | "approved" | "edited">;

const CHANNELS: Record<string, string> = {
  inbox: "the inbox",
  web: "this page",
  slack: "Slack",
  email: "email",
  sms: "SMS",
  whatsapp: "WhatsApp",
  webhook: "another system",
  push: "a notification",
  api: "a program",
  policy: "a rule",
};

export const text = {
  title: "Inbox",
  tabs: { label: "Which", open: "Waiting", over: "Done" },
  counted: (name: string, n: number | undefined): string => (n === undefined ? name : `${name} (${number(n)})`),
  byDue: "Due",
  due: {
    handed: "Handed to you",
    soon: "Within an hour",
    today: "Within a day",
    later: "Later",
    none: "No deadline",
  } satisfies Record<Due | "handed", string>,
  filter: "Show",
  all: "Everything",
  byKind: "Kind",
  byAgent: "Agent",
  kinds: { approval: "Approvals", reply: "Questions", value: "Forms" } satisfies Record<Kind, string>,
  kind: { approval: "Approval", reply: "Question", value: "Form" } satisfies Record<Kind, string>,
  new: (n: number) => `${number(n)} new`,
  alike: (n: number, sentence: string) => `${number(n)} alike: ${sentence}`,
  arrived: "Something new came in.",
  left: (ms: number) => (ms > 0 ? `${duration(ms)} left` : "Time is up"),
  noDeadline: "No deadline",
  empty: "Nothing waits for you",
  emptyHint: "What agents ask of you by name appears here by itself.",
  emptyOver: "Nothing is over yet",
  emptyOverHint: "What you or others have decided is kept here for a while.",
  emptySearch: "Nothing found",
  emptySearchSoFar: "Nothing found among the newest",
  emptyFilter: "Nothing of this kind",
  showAll: "Show everything",
  snooze: "Snooze",
  snoozed: (time: string) => `Snoozed until ${time}`,
  deciding: (name: string | null) => (name === null ? "Being decided" : `${name} is deciding`),
  snoozedOnly: "Snoozed or handed on",
  handedBy: (name: string, note: string | null) => `${name} hands you this${note === null ? "" : `: ${note}`}`,
  awayUntil: (name: string, day: string) => `${name} is away until ${day}`,
  handedOn: (to: string, note: string | null) => `Handed on to ${to}${note === null ? "" : `: ${note}`}`,
  notify: "Notifications",
  older: "Show older",
  more: (n: number) => `Show more, ${number(n)} left`,
  failed: "The inbox could not be loaded",
  signedInAs: (name: string) => `Signed in as ${name}`,
  signOut: "Sign out",

  ask: {
    failed: "This could not be loaded",
    unknown: "There is nothing here for you",
    unknownHint: "It may be addressed to somebody else, or be long over.",
    toList: "Back to the inbox",
    next: "Next",
    call: "Wants to run",
    arguments: "Arguments",
    noArguments: "It takes no arguments.",
    secret: (name: string) => `${name} holds a secret. Show it`,
    argument: (name: string) => `Value of ${name}`,
    length: (n: number) => count(n, "character", "characters"),
    raw: "Raw",
    rawLead: "What is approved is the digest of exactly this.",
    /** Names the type of an argument, where its drawing leaves out the signs by which JSON shows it. */
    kindOf: (typed: TypedArgument): string => {
      if (typed.kind === "text")
        return typed.lines.length > 1 ? `text, ${count(typed.lines.length, "line", "lines")}` : "";
      if (typed.kind === "list") return `list, ${count(typed.items.length, "item", "items")}`;
      if (typed.kind === "table") return `table, ${count(typed.rows.length, "row", "rows")}`;
      if (typed.kind !== "diff") return "";
      const lines = (sign: string): string => number(typed.lines.filter((line) => line.sign === sign).length);
      return `diff, ${lines("+")} added, ${lines("-")} removed`;
    },
    opens: (host: string) => `Opens ${host}`,
    moment,
    money,
    words: (agent: string) => `In the words of ${agent}. A program wrote this; nobody has checked it.`,
    facts: "About this",
    agent: "Asked by",
    run: "Run",
    wholeRun: "Everything of this run",
    asked: "Asked",
    deadline: "Deadline",
    silence: "On silence",
    silences: {
      rejected: "If nobody answers in time it counts as rejected.",
      unanswered: "If nobody answers in time the agent goes on without an answer.",
      failed: "If nobody answers in time the task fails.",
      agent_waits: "There is no deadline; the agent waits.",
      work_waits: "There is no deadline; the work waits.",
    } satisfies Record<WholeAsk["silence"], string>,
    digest: "Digest",
    others: "May answer",
    sent: "Sent by",
    refused: "Not accepted",
  },

  you: (channel: string): string => (channel === "inbox" ? "You" : `You (${CHANNELS[channel] ?? channel})`),
  /** Somebody else who may answer, as the first of a list or behind others. */
  mayAnswer: ({ name, channel, many }: WholeAsk["may_answer"][number], isFirst: boolean): string => {
    const where = CHANNELS[channel] ?? channel;
    if (name !== null) return channel === "webhook" ? `${name} (another system)` : name;
    if (channel === "inbox") return `${isFirst ? "E" : "e"}verybody who sees the whole inbox`;
    return many && !isFirst ? `others (${where})` : `${isFirst ? "S" : "s"}omebody (${where})`;
  },
  ofGroup: (group: string) => `Group ${group}: `,
  moreOf: (n: number) => `${number(n)} more`,
  from: (time: string) => `from ${time} on`,
  needs: (needs: WholeAsk["needs"]): string | null => {
    if (needs.rule === "all") return `All ${number(needs.of)} must approve; one rejection rejects.`;
    if (needs.rule === "some") {
      return `${number(needs.least)} of ${number(needs.of)} must approve; one rejection rejects.`;
    }
    return needs.rule === "several" ? "Several must approve; one rejection rejects." : null;
  },
  delivery: (channel: string, name: string | null, state: string): string => {
    const where = CHANNELS[channel] ?? channel;
    const whom = name === null ? "" : ` to ${name}`;
    const states: Record<string, string> = {
      queued: "not sent yet",
      sending: "being sent",
      sent: "sent",
      closing: "sent",
      closed: "sent",
      failed: "could not be sent",
      skipped: "not needed",
    };
    return `${where}${whom}: ${states[state] ?? state}`;
  },
  refusals: {
    schema: "the answer did not fit what was asked for",
    unknown_option: "the choice was not among those offered",
    unparseable: "the answer was not understood",
    code_missing: "the code was missing or wrong",
    sender_unverified: "the sender could not be verified",
    responder_not_allowed: "this person was not asked",
    digest_mismatch: "what was shown is not what would run",
  } as Record<string, string>,
  refusedBy: (name: string | null, via: string, why: string) =>
    `${name ?? "Somebody"}, by ${CHANNELS[via] ?? via}: ${why}`,

  who: (by: By | null, mine: boolean): string => {
    // A decision by a permanent permission is not a new decision.
    if (by?.kind === "person" && by.via === "policy") return `${by.name ?? "somebody"}, in advance`;
    if (mine) return "you";
    if (!by) return "nobody";
    if (by.kind === "policy") return by.name === null ? "a rule" : `the rule ${by.name}`;
    if (by.kind === "agent") return `${by.name ?? "the agent"} itself`;
    return by.name ?? `somebody on ${CHANNELS[by.via] ?? by.via}`;
  },
  /** How it ended, in one line. */
  outcome: ({ outcome, kind }: { kind: Kind; outcome: Ended | null }, who: string): string => {
    if (!outcome) return "";
    if (outcome.status === "cancelled") return "Withdrawn by the agent";
    if (outcome.status === "expired") return kind === "approval" ? "Expired, which rejects it" : "Expired";
    if (kind !== "approval") return `Answered by ${who}`;
    return outcome.approved
      ? `${outcome.edited ? "Approved with changes" : "Approved"} by ${who}`
      : `Rejected by ${who}`;
  },
  callEndLabel: "What became of it",
  callEnd: {
    awaited: "The agent has not said yet that it ran",
    started: "Running",
    done: "Done",
    failed: "Failed",
    withdrawn: "Not run: the agent withdrew it",
    unknown: "Unknown how it ended",
    not_run: "Not run",
    not_reported: "The agent does not report what becomes of its calls",
  } satisfies Record<NonNullable<ListedAsk["call_outcome"]>["state"], string>,
  theirEndWords: (agent: string) => `${agent} says`,

  approve: "Approve",
  reject: "Reject",
  approveTitle: (fn: string) => `Approve ${fn}?`,
  rejectTitle: (fn: string) => `Reject ${fn}?`,
  approveLead: (agent: string) => `${agent} may run it once, with the arguments shown.`,
  approveEditedLead: (agent: string) => `${agent} runs it with your arguments instead of its own.`,
  hold: (label: string) => `Hold: ${label}`,
  holdHint: "Hold the button for a second and let go, or type the name first. It cannot be undone.",
  letGo: "Now let go",
  nameIt: (fn: string) => `Or type ${fn}`,
  risk: {
    low: "Low risk",
    reads: "Low risk: it only reads.",
    normal: "Normal risk",
    high: "High risk",
    unjudged: "Not judged",
    because: {
      rule: "Policy:",
      joint: "Several people must agree to it.",
      unseen: "Its name holds characters that nobody can see.",
      long: "Its arguments are too long to look through.",
      secret: "An argument holds a secret.",
      loses: "Lost:",
      forces: "Forced:",
      money: "Much money:",
      people: "To many people:",
      opens: "Gives rights:",
      place: "Place:",
      file: "Guarded file:",
      data: "Personal data:",
      unread: "Unclear beforehand:",
    },
  },
  unseen: (name: string) => `Look at all of ${name} first: it holds a secret.`,
  alwaysAllow: "Always allow exactly this",
  alwaysAllowLead: (agent: string, until: string) =>
    `${agent} may then do the same to the same thing without asking, until ${day(until)} or until an admin revokes it.`,
  allowLike: "Allow like this…",
  looking: "Looking at the calls of the last week…",
  nothingAlike: "Nothing like this can be put in a pattern; approve it alone.",
  wouldHaveCovered: ({ calls, approved, rejected }: { calls: number; approved: number; rejected: number }) =>
    calls === 0
      ? "None of the last week’s calls."
      : `${calls} of the last week’s calls; people approved ${approved} of them and rejected ${rejected}.`,
  forHowLong: "For how long",
  during: {
    session: "This session, a day at most",
    hour: "One hour",
    today: "Today",
    week: "7 days",
    month: "30 days",
  },
  alikeLead: "What looks like a high risk is still asked about. Every admin sees it under Rules and can end it there.",
  nextTime: "Answer the same next time",
  nextTimeLead: (agent: string, until: string) =>
    `${agent} then hears this answer, with your name, whenever it asks the same people exactly the same, until ${day(until)}.`,
  rejectLead: "It will not run.",
  comment: "Comment (optional)",
  reason: "Reason (optional)",
  otherArguments: "Propose other arguments",
  rejectWays: "Reject because",
  edit: "Change the arguments",
  editShort: "Edit",
  editLead: "What you approve is what runs. Leave it as it is to approve what the agent proposed.",
  editAsJson: "Arguments as JSON",
  restore: "Take back the changes",
  edited: "Changed",
  changes: { label: "Changes", to: "changed to", none: "not given" },
  approveEdited: "Approve with changes",

  ready: "Answers",
  yourAnswer: "Your answer",
  orWrite: "Or write your own",
  alsoWrite: "Add something (optional)",
  placeholder: "Write what you think",
  enterHint: "Enter sends, Shift and Enter make a new line.",
  send: "Send",
  sending: "Sending",
  answerFirst: "Choose or write an answer first.",
  chooseFirst: "Choose an answer first.",

  task: {
    review: "Review",
    about: "The task",
    of: (id: string, repo: string, agent: string) => `For task ${id} in ${repo}, by ${agent}.`,
    sandbox: {
      bubblewrap: "It runs in a sandbox (bubblewrap).",
      none: "No sandbox: it runs with the files and the network of whoever runs this server.",
    },
    change: "What would change",
  },

  talk: {
    new: "New conversation",
    begun: (n: number) => count(n, "conversation", "conversations"),
    with: "With",
    first: "What is it about?",
    earlier: "Show earlier",
    more: "Say more",
    answerTo: (title: string) => `Your answer: ${title}`,
    title: (agent: string) => `Conversation with ${agent}`,
    log: "What was said",
    me: "You",
    you: "you",
    program: (agent: string) => `${agent}, a program`,
    wants: (sentence: string) => `Asks for a decision: ${sentence}`,
    answer: "Answer",
    decide: "Decide",
    taken: "The agent has taken it",
    decideFirst: "Something here waits for your decision. Decide it first; then you can say more.",
    closed: "This agent takes no more words here.",
    writeFirst: "Write something first.",
    failed: "The conversation could not be loaded",
    nobody: "No agent takes conversations here",
    nobodyHint: "Whoever runs this server can open one to the inbox.",
    unknownHint: "It may be somebody else's, or be long over.",
    unreachable: "Not sent. The server cannot be reached. Your words are kept; try again.",
  },

  form: {
    yes: "Yes",
    no: "No",
    none: "Choose",
    optional: "optional",
    nothing: "Leave empty",
    add: (name: string) => `Add to ${name}`,
    remove: (name: string, at: number) => `Remove ${name} ${number(at)}`,
    item: (name: string, at: number) => `${name} ${number(at)}`,
    asJson: "Write JSON instead",
    asForm: "Use the form",
    json: "JSON",
    value: "Value",
    required: "Fill this in.",
    number: "This must be a number.",
    integer: "This must be a whole number.",
    digits: "This has more digits than can be sent.",
    least: (n: number) => `At least ${number(n)}.`,
    most: (n: number) => `At most ${number(n)}.`,
    shortest: (n: number) => `At least ${count(n, "character", "characters")}.`,
    longest: (n: number) => `At most ${count(n, "character", "characters")}.`,
    fewest: (n: number) => `At least ${number(n)} of these.`,
    notJson: "This is not valid JSON.",
    between: (low: number | undefined, high: number | undefined): string => {
      if (low !== undefined && high !== undefined) return `${number(low)} to ${number(high)}`;
      return low !== undefined ? `${number(low)} or more` : high !== undefined ? `${number(high)} or less` : "";
    },
    check: (n: number) => `${count(n, "field needs", "fields need")} another look.`,
  },

  state: {
    counted: "You have approved. Others must agree too.",
    notAsked: "You can read this. Somebody else decides it.",
    approvals: "So far",
    approvedBy: (who: string) => `Approved by ${who}`,
    sent: "Sent.",
    kept: "What you had begun is still here:",
    unreachable: "Not sent. The server cannot be reached, and nothing was decided. Your words are kept; try again.",
    changed: "What would run is not what this page showed. Read it again before you decide.",
    failed: (why: string) => `Not sent. ${why}`,
    yourWords: "Your answer",
    theirWords: "The answer",
    comment: "Comment",
    option: "Choice",
    ran: "Arguments that run",
  },
};

export type InboxTexts = typeof text;
