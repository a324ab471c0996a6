/** What the inbox's API says (docs/how-to/inbox.md). */

export type Kind = "approval" | "reply" | "value";

/** How risky the server thinks it looks: `low` only reads; `high` destroys something, or goes around a safeguard. */
export type Risk = "low" | "normal" | "high";

export interface By {
  kind: "person" | "address" | "agent" | "policy";
  /** Null where somebody is known by a channel only. */
  name: string | null;
  via: string;
}

/** A line of a diff, whole, and whether it is added, goes, stays, or says where the others belong. */
export interface DiffLine {
  sign: "+" | "-" | " " | "@";
  text: string;
}

/** An argument drawn as what it is, in place of its JSON. */
export type TypedArgument =
  | { is: "text"; lines: string[] }
  | { is: "diff"; lines: DiffLine[] }
  | { is: "list"; items: string[] }
  | { is: "table"; columns: string[]; rows: string[][] }
  | { is: "fields"; rows: [string, string][] }
  | { is: "link"; text: string; href: string; host: string }
  | { is: "date"; text: string; at: string }
  | { is: "money"; text: string; amount: string; currency: string };

export interface ArgumentRow {
  name: string;
  /** Its JSON, in full. */
  text: string;
  /** Null where the JSON says as much. */
  typed: TypedArgument | null;
  /** It holds a secret, and is shown whole once somebody presses for it. */
  secret: boolean;
  /** Its JSON with the secrets masked; null where it holds none, or where they are not known. */
  masked: string | null;
}

export interface AskOutcome {
  status: "answered" | "expired" | "cancelled";
  approved: boolean | null;
  option: string | null;
  comment: string | null;
  text: string | null;
  value: string | null;
  edited: boolean;
  /** Of an approval with edited arguments: what runs. */
  arguments: ArgumentRow[] | null;
  digest: string | null;
  by: By | null;
}

export interface ListedAsk {
  id: string;
  kind: Kind;
  title: string;
  /** What tells it from others: of a call what would run, with its two most telling arguments; else the title. */
  sentence: string;
  fn: string | null;
  risk: Risk;
  agent: string;
  state: "open" | "answered" | "expired" | "cancelled";
  created_at: string;
  expires_at: string | null;
  settled_at: string | null;
  outcome: AskOutcome | null;
}

/** When something is due: within an hour, within a day, after that, or never. */
export type Due = "soon" | "today" | "later" | "none";

/** How many wait of what is wanted, at a time by the server's clock. */
export interface Counts {
  at: string;
  all: number;
  kinds: Record<Kind, number>;
  due: Record<Due, number>;
  agents: { agent: string; count: number }[];
  /** When the newest of them was asked. */
  newest_at: string | null;
}

export interface AskPage {
  asks: ListedAsk[];
  next: string | null;
  /** With the first page of what waits. */
  counts: Counts | null;
}

/** What of a list is wanted; nothing, for all of it. */
export interface Wanted {
  kind?: Kind;
  due?: Due;
  agent?: string;
  /** Words to look for in what is over. */
  q?: string;
}

export interface AskOption {
  name: string;
  title: string;
  description: string | null;
  prompt_fill: string | null;
  interactive: boolean;
}

export interface MayAnswer {
  name: string | null;
  channel: string;
  me: boolean;
  from: string | null;
}

export interface Counted {
  by: By;
  mine: boolean;
  approved: boolean | null;
  comment: string | null;
  at: string;
}

export interface WholeAsk extends ListedAsk {
  run: string | null;
  words: string;
  /** The arguments hold a secret: they are shown when somebody wants to see them. */
  arguments: ArgumentRow[] | null;
  digest: string | null;
  options: AskOption[];
  /** Only one of the options is an answer. */
  listed: boolean;
  schema: JsonSchema | null;
  editable: boolean;
  kwargs: string | null;
  kwargs_schema: JsonSchema | null;
  on_silence: string;
  may_decide: boolean;
  /** This person may approve it and allow the same for good. */
  may_stand: boolean;
  /** When that would end, approved now. */
  standing_until: string | null;
  /** Until when the answer can be given again to the same question; null where it cannot. */
  keep_until: string | null;
  needs: { rule: "one" | "all" | "some" | "several"; of: number; least: number };
  may_answer: MayAnswer[];
  decisions: Counted[];
  refused: { at: string; by: string | null; via: string; reason: string } | null;
  deliveries: { channel: string; name: string | null; state: string; at: string }[];
  /** The task of a coding agent that it is about, and what of it. */
  task: {
    repo: string;
    id: string;
    attempt: number;
    about: "review" | "conflict" | "wish";
    agent: string | null;
    sandbox: "bubblewrap" | "none" | null;
  } | null;
}

export interface NewDecision {
  approved?: boolean;
  comment?: string;
  option?: string;
  text?: string;
  value?: unknown;
  kwargs?: unknown;
  digest?: string;
  standing?: boolean;
  same_next_time?: boolean;
}

/** Written by an agent: data, never code. */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean;
