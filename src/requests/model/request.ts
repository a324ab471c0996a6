import type { GrantPattern } from "../../policy/model/pattern.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { OUTSIDE_CHANNELS, type OutsideChannel } from "../../channels/kinds.ts";
import type { Identity } from "../../access/model/identity.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import type { DecisionOrigin } from "../../core/model/decision-origin.ts";

/** One ready-made answer, or one ready-made way to reject (spec/a2h 5.2). */
export interface ResponseOption {
  name: string;
  title?: string;
  description?: string;
  promptFill?: string;
  /** True: choosing it opens an editor that holds `promptFill`; false: one press answers. */
  interactive: boolean;
}

/** A JSON Schema sent by an agent: data, never code. */
export type ForeignSchema = Readonly<Record<string, unknown>>;

/** The form of a request: whether a call runs, a reply, or a value that fits a schema. */
export type RequestForm =
  | {
      kind: "approval";
      fn: string;
      /** The canonical JSON of the arguments: exactly the bytes that are hashed and shown. */
      kwargs: string;
      rejectOptions: readonly ResponseOption[];
      /** The agent opted in to running edited arguments. */
      editable: boolean;
      kwargsSchema?: ForeignSchema;
      /** Set for a plan: the number of its calls, which are the arguments. */
      calls?: number;
    }
  | {
      kind: "reply";
      options: readonly ResponseOption[];
      /** Only one of the options is an answer; words alone are not. */
      listed?: boolean;
      declinable?: boolean;
    }
  | {
      kind: "value";
      schema: ForeignSchema | null;
      /** The person may decline, with a comment. */
      declinable?: boolean;
    };

/** The channel by which a decision came in. */
export const VIAS = ["web", ...OUTSIDE_CHANNELS, "api", "policy"] as const;
export type Via = (typeof VIAS)[number];

/** Somebody to ask, on one channel; what `to` holds beyond this is for its channel alone. */
export type Target =
  /** With `group`, the person is asked as a member of that group. */
  | { via: "person"; person: string; group?: string }
  /** Everybody whose inbox shows all there is. */
  | { via: "inbox" }
  | AddressTarget
  | { via: "webhook"; to: string; people: readonly string[] };

type AddressChannel = Exclude<OutsideChannel, "webhook">;
type AddressTarget = { [Name in AddressChannel]: AddressOn<Name> }[AddressChannel];

type AddressOn<Name> = {
  via: Name;
  to: string;
  /** The only people who may answer there. */
  allowed?: readonly string[];
  /** Gets a copy, and is not asked. */
  informed?: boolean;
  settings: Readonly<Record<string, unknown>>;
};

/** Who is asked, and how many of them must agree (spec/a2h 12). */
export type Audience =
  | { kind: "leaf"; target: Target }
  | { kind: "any"; of: readonly { afterMs: number; node: Audience }[] }
  | { kind: "all"; of: readonly Audience[] }
  | { kind: "quorum"; min: number; of: readonly Audience[] };

/** Somebody who answers, as far as it was proved: by a session, a key, or a provider's signature. */
export interface Decider {
  via: Via;
  /** The enrolled person, if this is one. */
  person: string | null;
  /** Everything the enrolled person is known by, and what was proved now. */
  identities: readonly Identity[];
  /** Sees all there is in the inbox. */
  seesAll: boolean;
  /** A full member of the Slack workspace, neither bot nor guest nor stranger; may approve without being enrolled. */
  slackMember?: { channel: string; mayApprove: boolean };
  /** The webhook target that speaks for the person. */
  webhook?: string;
  /** The asking agent itself, by a key that an admin let answer its own requests. */
  self?: true;
  /** How to print somebody who is not enrolled; never shown to people as if it were checked. */
  called?: string;
}

/** A decision. `digest` is of the call that this person saw. An approval with an option contradicts itself. */
export type Decision =
  | ({
      kind: "approve";
      comment?: string;
      kwargs?: string;
      /** Which of these arguments hold a secret; null if none does. */
      guard?: GuardedArguments | null;
      option?: string;
      digest?: string;
      /** Only so many calls of a plan, the first ones; left out, all. */
      upTo?: number;
      /** The permission that goes with it: of exactly this call, or of what a pattern covers. */
      withGrant?: true | ChosenGrant;
    } & DecisionContent)
  | ({ kind: "reject"; comment?: string; option?: string; digest?: string } & DecisionContent)
  | ({ kind: "reply"; text?: string; option?: string } & DecisionContent)
  | ({ kind: "value"; text: string } & DecisionContent);

/** A pattern that an approver chose to allow, and for how long from the approval on. */
export interface ChosenGrant {
  pattern: GrantPattern;
  forMs: number;
}

/** The fields that any decision may have: a value, and those of `Besides`. */
interface DecisionContent extends Besides {
  /** The answer, if a value is requested; else JSON that a program sent with the decision. */
  value?: unknown;
}

/** The fields that a program may send beside its answer for a person (spec/relay 4). */
interface Besides {
  /** A question to the requester. */
  askBack?: string;
  /** Paths of files of the job. */
  artifacts?: readonly string[];
  /** The same question is to be answered so from now on, without asking. */
  sameNextTime?: true;
}

/** How an addressed request ended, in our own words; each door prints it in its own. */
export interface Outcome extends Besides {
  status: "answered" | "expired" | "cancelled";
  approved?: boolean;
  /** As given; a door fills in what its clients cannot do without. */
  comment?: string;
  option?: string;
  text?: string;
  /** JSON of the given value; it fits the schema, if the request has one. */
  value?: string;
  /** Canonical JSON of the arguments to run. */
  kwargs?: string;
  edited?: boolean;
  /** So many calls of an approved plan are approved, the first ones; left out, all. */
  upTo?: number;
  /** Which of the edited arguments hold a secret; null if none does. */
  guard?: GuardedArguments | null;
  digest?: string;
  by?: DecidedBy;
  /** The approver asked for a permission of the same call, or of what a pattern covers. */
  standing?: true | ChosenGrant;
  /** The trace of policy, if it decided instead of people. */
  trace?: PolicyTrace;
  /** The reports that the agent of an approved call promised; left out of approvals made before there were reports. */
  reports?: PromisedReports;
}

/**
 * The reports that an agent promises of an approved call: its start, which waits for the server's word, and its end; its
 * end alone; or none. `door` marks a call whose start and end its door knows by itself.
 */
export type PromisedReports = "start" | "end" | "none" | "door";

/** The arguments of a call that hold a secret. */
export interface GuardedArguments {
  /** The names of those arguments. */
  guarded: readonly string[];
  /** The canonical JSON of each, with `[secret:<rule>]` in the place of each secret. */
  masked: Readonly<Record<string, string>>;
}

/**
 * Who decided: a person, somebody known by a channel only, or a rule that a person wrote. A person by `via: "policy"` has
 * allowed exactly this earlier.
 */
export interface DecidedBy {
  kind: "person" | "address" | "agent" | "policy";
  /** Id of the person, `slack:U…`, `email:…`, `phone:…`, principal, or rule. */
  id: string;
  via: Via;
}

/** One counted approval, rejection or reply. */
export interface CountedDecision {
  by: DecidedBy;
  pressed?: DecisionOrigin;
  approved: boolean | null;
  /** See `Decision`. */
  upTo?: number;
  comment?: string;
  digest?: string;
  at: number;
}

/** A decision that somebody pressed in the app: it leaves the server at `dueAt`, unless they undo it before (spec/a2h 9). */
export interface Press {
  person: string;
  /** Hash of the session under which it was pressed. */
  session: string;
  decision: Decision;
  at: number;
  dueAt: number;
}

/** A question that somebody put to the agent of an open request before deciding it, and the agent's answer. */
export interface Inquiry {
  /** Who asked. */
  person: string;
  text: string;
  at: number;
  /** When a wait of the agent ended with it; left out while the agent has not been told. */
  toldAt?: number;
  answer?: string;
  answeredAt?: number;
}

/** The newest answer that was not accepted (spec/a2h 5.5). */
export interface RefusedAnswer {
  at: number;
  via: Via;
  responder: string;
  reason:
    | "schema"
    | "unknown_option"
    | "unparseable"
    | "code_missing"
    | "sender_unverified"
    | "responder_not_allowed"
    | "digest_mismatch";
  input?: string;
  errors?: readonly { path: string; message: string }[];
  attempts: number;
}

/** The deadline of a request that has none. */
export const NO_DEADLINE = 253_402_300_799_000;

/** A request addressed to people: the same noun as a crowd question, with a decision instead of a count. */
export interface Request {
  id: RequestId;
  door: string;
  /** The principal who asked. */
  asker: string;
  /** The asker's own name for it, unique among what it asked: `call:…`, `contact:…`, `message:…`. */
  ref: string;
  title: string;
  /** The agent's own words; shown below a line that says whose they are. */
  words: string;
  form: RequestForm;
  audience: Audience;
  /** Set for an approval: the digest of the call to approve, `sha256:…`. */
  digest: string | null;
  state: "open" | "answered" | "expired" | "cancelled";
  version: number;
  createdAt: number;
  /** `NO_DEADLINE` without a deadline. */
  expiresAt: number;
  settledAt: number | null;
  outcome: Outcome | null;
  refused: RefusedAnswer | null;
  /** Fields that only its door reads. */
  wire: Readonly<Record<string, unknown>>;
  /** The number of the conversation it is part of. */
  conversation?: number;
  /** The coding agent whose hook made it: it asks the same people to its end. */
  promptOf?: string;
  /** The request of the plan whose call it is: that one is shown and decided, and ends it. */
  plan?: RequestId;
  /** The key of the run or task of its agent; left out where it names none, and where it is older than runs. */
  run?: string;
  /** Nobody waits for it from then on, and it is withdrawn; left out where it is open until its deadline. */
  waitedUntil?: number;
  /** Decisions that were pressed and can still be undone, one of each person; left out without any. */
  presses?: readonly Press[];
  /** The questions that people put to its agent, oldest first; left out without any. */
  inquiries?: readonly Inquiry[];
}

/** The run of its asker that goes on with the decision. */
export interface DecisionClaim {
  run: string;
  at: number;
}

/** Returns the claim on a decision; undefined while no run has it. */
export function claimOf({ wire }: Pick<Request, "wire">): DecisionClaim | undefined {
  return wire["claim"] as DecisionClaim | undefined;
}
