/** The words of the Console, loaded with it. */
import type { ChannelState, ChannelTest, HumanChannel, RevokedKey, WebhookDelivery } from "@parley/sdk/admin";
import { count, number } from "../format.ts";
import { deedIn } from "./deeds.ts";

export type PersonChannel = keyof HumanChannel;
export type Scope = RevokedKey["scope"];

const CHANNELS: Record<PersonChannel | "push", string> = {
  inbox: "Inbox",
  email: "Email",
  slack: "Slack",
  sms: "SMS",
  whatsapp: "WhatsApp",
  webhook: "Webhook target",
  push: "Notifications",
};

export const text = {
  deed: (action: string): string => deedIn({ human: "person", human_contact: "question" }, action),
  title: "Console",
  sections: "Sections",
  signingIn: "Signing in",
  signedInAs: (name: string, role: string) => `Signed in as ${name} (${role})`,
  signOut: "Sign out",
  signedOut: "Nobody is signed in",
  signedOutHint: "Ask the server for a fresh link: run “parley link” where it runs, and open what it prints.",
  codeFailed: "This link does not work any more",
  codeFailedHint: "A link works once, for 30 minutes. Run “parley link” where the server runs to get another.",
  adminsOnly: "The console is for admins",
  adminsOnlyHint: (name: string) =>
    `You are signed in as ${name}, who answers what agents ask, and does not run this server. An admin can change that under People.`,
  openInbox: "Open the inbox",
  open: "Open the questions",
  nothingHere: "There is nothing here",
  nothingHereHint: "It was removed, or never was.",
  choose: "Choose one on the left.",
  save: "Save",
  saved: "Saved.",
  cancel: "Cancel",
  never: "Never",
  optional: "optional",
  unreachableNow: "The server cannot be reached. Try again in a moment.",
  older: "Show older",

  start: {
    inbox: "Inbox",
    inboxHint: "What agents ask of you by name: approvals, questions, forms.",
    connect: "Connect an agent",
    connectHint: "Any program that can send HTTP can ask. On this computer it needs no key.",
    remoteHint: "From another computer it needs a key of scope agent. Make one under",
    ask: "Ask a question",
    read: "Read the answers",
    readHint: "With the question_id of the reply; the request waits until there is something to say.",
    environment: "For programs that use the SDK or the command line",
    answer: "Answer",
    answerHint: "Open this address on any device that reaches the server.",
  },

  channelNames: CHANNELS,
  channel: (channel: PersonChannel | "push"): string => CHANNELS[channel],

  people: {
    title: "People",
    add: "Add somebody",
    adding: "Somebody new",
    failed: "The people could not be loaded",
    admin: "Admin",
    noChannels: "Inbox only",
    name: "Name",
    job: "Title",
    jobHint: "What they do, such as Finance lead.",
    about: "What agents are told about them",
    aboutHint: "Agents read this to choose whom to ask. Leave out anything private.",
    role: "May run this server",
    roleHint: "Admins see this console, and every request in the inbox unless you narrow that below.",
    operator: "This person runs the server, and stays an admin.",
    scope: "Sees in the inbox",
    scopes: { addressed: "What is addressed to them", all: "Everything" },
    channels: "Reached by",
    channelsHint: "From the top down: if one fails or nobody answers, the next is tried.",
    addChannel: "Add another way",
    place: (at: number) => `Way ${number(at)}`,
    up: (name: string) => `Move ${name} up`,
    down: (name: string) => `Move ${name} down`,
    drop: (name: string) => `Remove ${name}`,
    address: {
      email: "Mail address",
      slack: "Slack user ID, such as U024BE91L",
      sms: "Phone number, such as +14155550123",
      whatsapp: "Phone number, such as +14155550123",
      webhook: "Name of the target in parley.yaml",
    } satisfies Record<Exclude<PersonChannel, "inbox">, string>,
    signIn: "Signing in",
    sessions: (n: number) => (n === 0 ? "Signed in nowhere." : `Signed in on ${count(n, "device", "devices")}.`),
    link: "Make a sign-in link",
    linkHint:
      "It works once, for 30 minutes, and whoever opens it is this person here. Give it to nobody else. It is not shown again.",
    linkLabel: "Sign-in link",
    end: "Sign out everywhere",
    ended: "Signed out everywhere.",
    remove: "Remove",
    removing: (name: string) => `Remove ${name}?`,
    removingHint:
      "They can no longer be asked, sign in or answer, and their keys end. What only they were asked goes to everybody who sees everything. What they decided keeps their name.",
    confirmRemove: "Remove them",
    removed: "Removed.",
    idLabel: "Number, in settings, keys and commands",
  },

  keys: {
    title: "Keys",
    add: "New key",
    failed: "The keys could not be loaded",
    which: "Which",
    live: "In use",
    all: "All",
    empty: "There is no key yet",
    emptyHint: "Programs on this computer need none. Any other program does.",
    name: "Name",
    nameHint: "What it is for, without spaces, such as build-bot. Keys of one name and scope share what they asked.",
    scope: "Scope",
    scopes: {
      agent: "agent: asks, and reads what came of it",
      answer: "answer: a person's own program answers for them",
      executor: "executor: relays what a coding agent does",
      assign: "assign: gives tasks to coding agents",
      admin: "admin: runs this server",
    } satisfies Record<Scope, string>,
    person: "Whose",
    nobody: "Nobody's: a service's",
    expires: "Good for",
    terms: { ever: "Until it is revoked", day: "1 day", month: "30 days", quarter: "90 days", year: "1 year" },
    selfRespond: "May answer what it asked itself",
    selfRespondHint: "For tests and scripts. Its answers are marked as its own in the record.",
    create: "Make the key",
    made: "Your new key",
    tryIt: "Ask a first question with it",
    notUsedYet: "Not used yet. This changes once a program shows the key.",
    wasUsed: "It was used: a program has reached this server with it.",
    madeHint: "Copy it now. Only its fingerprint is stored, so it is not shown again.",
    done: "I have copied it",
    state: (state: "good" | "revoked" | "expired", until: string | null): string => {
      if (state !== "good") return state === "revoked" ? "Revoked" : "Expired";
      return until === null ? "Good until revoked" : `Good until ${until}`;
    },
    created: "Made",
    used: "Last used",
    unused: "Not used yet",
    usedHint: "to the hour",
    expiry: "Good until",
    revoked: "Revoked",
    revokedNever: "it is revoked",
    revoke: "Revoke",
    revoking: (name: string) => `Revoke ${name}?`,
    revokingHint: "The next request with it is refused. This cannot be undone.",
    confirmRevoke: "Revoke it",
    isRevoked: "Revoked.",
    self: "Answers itself",
    yes: "Yes",
  },

  channels: {
    title: "Channels",
    failed: "The channels could not be loaded",
    on: "Configured",
    off: "Not configured",
    state: ({ configured, sent_at, failed_at, retrying }: ChannelState): string => {
      if (!configured) return "Not configured";
      if (retrying > 0) return `${count(retrying, "message is", "messages are")} being tried again`;
      if (failed_at !== null && (sent_at === null || failed_at > sent_at)) return "The last message failed";
      return sent_at === null ? "Nothing sent yet" : "Works";
    },
    lastSent: "Last message taken",
    lastFailed: "Last message given up",
    failing: ({ failed, retrying, error }: ChannelState, since: string | null): string =>
      [
        ...(failed > 0 ? [`${count(failed, "message", "messages")} given up since ${since ?? "then"}`] : []),
        ...(retrying > 0 ? [`${count(retrying, "message is", "messages are")} being tried again`] : []),
        `last error: ${error ?? "not known"}`,
      ].join("; "),
    reason: (error: string) => `(${error})`,
    retrying: "Being tried again",
    setUp: {
      push: "Devices are turned on under You, in the web app. Push services need no account.",
      slack: "Set slack.bot_token and slack.app_token in parley.yaml; “parley slack manifest” prints the app.",
      email: "Set email.smtp_url and email.from in parley.yaml.",
      sms: "Set twilio.account_sid, twilio.auth_token, twilio.sms_from and twilio.countries in parley.yaml.",
      whatsapp: "Set twilio.account_sid, twilio.auth_token, twilio.whatsapp_from and twilio.countries in parley.yaml.",
      webhook: "Name targets under webhook_targets in parley.yaml.",
    } satisfies Record<ChannelState["channel"], string>,
    test: "Send a test",
    testHint: "A real message, by the way that carries requests, with a button that shows whether answers come back.",
    to: "To",
    send: "Send a test message",
    again: "Send another",
    nobody: "Nobody has an address for this yet. Write one down under People.",
    result: ({ state, attempts, error, via }: ChannelTest): string => {
      const wrong = error ?? "unreachable";
      switch (state) {
        case "sending":
          return "On its way…";
        case "retrying":
          return `Not taken yet: ${wrong}. Tried ${count(attempts, "time", "times")}; it is tried again.`;
        case "failed":
          return `Not sent: ${wrong}.`;
        case "sent":
          return "Sent: the provider took it. Answer it to try the way back; it waits ten minutes.";
        case "answered":
          return `Sent, and answered (${via ?? "web"}). It works there and back.`;
        case "over":
          return "Sent, but nobody answered within ten minutes.";
      }
    },
  },

  webhooks: {
    title: "Webhooks",
    failed: "The webhooks could not be loaded",
    empty: "No agent has a webhook yet",
    emptyHint: "Agents that want to be told how their requests end make one with POST /webhook_endpoints.",
    enabled: "Enabled",
    disabled: "Disabled",
    fails: "Deliveries fail",
    failing: (since: string, error: string | null) =>
      `Nothing was taken there since ${since}; last error: ${error ?? "not known"}.`,
    of: (agent: string) => `Webhook of ${agent}`,
    disabledHint: "Nothing is told there: it took nothing for five days, said that it is gone, or was turned off.",
    agent: "Agent",
    format: "Format",
    events: "Events",
    allEvents: "All of the format",
    made: "Made",
    about: "About",
    enable: "Enable it",
    disable: "Disable it",
    test: "Send a test event",
    testing: "A test event is on its way.",
    deliveries: "Deliveries",
    noDeliveries: "Nothing was told there yet",
    deliveriesFailed: "The deliveries could not be loaded",
    state: { pending: "Waiting", delivered: "Delivered", dead: "Given up" } satisfies Record<
      WebhookDelivery["state"],
      string
    >,
    attempts: (n: number) => count(n, "attempt", "attempts"),
    status: (status: number) => `status ${number(status)}`,
    next: "next",
    retry: "Tell it again",
    retrying: "It is told again.",
  },

  audit: {
    title: "Record",
    failed: "The record could not be loaded",
    filter: "Filter the record",
    ask: "Request",
    askHint: "ask_…",
    agent: "Agent",
    action: "Action",
    actionHint: "function_call.approved",
    apply: "Filter",
    clear: "Show all",
    empty: "Nothing like this is in the record",
    checking: "Checking that every entry follows from the one before…",
    holds: (entries: number, unsealed: number) =>
      `Whole: each of ${count(entries, "entry", "entries")} follows from the one before.` +
      (unsealed === 0 ? "" : ` ${count(unsealed, "entry is", "entries are")} not in the chain yet.`),
    broken: (at: number) => `Changed: entry ${number(at)} does not follow from the one before.`,
    chainFailed: "The chain could not be checked.",
    by: (kind: string, id: string, name: string | undefined): string => {
      if (name !== undefined) return name;
      if (kind === "clock") return "the clock";
      if (kind === "crowd") return "the public";
      if (id === "parley" || id === "server:parley") return "the server";
      if (kind === "server" && id.startsWith("cli:")) return `${id.slice(4)}, at the command line`;
      return kind === "server" ? `the ${id}` : id.replace(/^agent:/, "");
    },
    entry: (seq: number) => `Entry ${seq}`,
  },

  health: {
    title: "Health",
    failed: "The store could not be examined",
    checking: "Examining…",
    holds: "Everything holds",
    broken: "Something is broken",
    failing: "Not everything arrives",
    deliveries: "Deliveries that fail",
    deliveriesUnknown: "Whether messages arrive could not be read.",
    brokenHint: "Nothing was changed. Run “parley doctor” where the server runs, and see docs/explanation/failures.md.",
    quick: "What is open and the newest rows were examined.",
    full: "Every row was examined.",
    all: "Examine every row",
    works: "Holds",
    fails: "Broken",
    checks: "Promises",
    mayBeMore: (most: number) => `At most ${most} are named; there may be more.`,
  },
};

export type ConsoleTexts = typeof text;
