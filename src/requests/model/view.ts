import type { RequestId } from "../../core/model/ids.ts";
import { ownTaskOf } from "./task-of-request.ts";
import { taskAskOf } from "./task-of-request.ts";
import { printable, printableExactly, printableLines, printableLinesExactly } from "../../lib/printable.ts";
import { argumentsOf, membersOf, riskiestMembers } from "./argument-order.ts";
import { shapeOf, type FieldShape, type Shape } from "./schema-shape.ts";
import {
  NO_DEADLINE,
  type ForeignSchema,
  type GuardedArguments,
  type Request,
  type ResponseOption,
} from "./request.ts";

/**
 * A request as people see it, rendered once by the core, so that every channel shows the same bytes. Invisible
 * characters are escaped; in the arguments of an approval, exactly by code point. It holds no markup.
 */
export interface RequestView {
  requestId: RequestId;
  agent: string;
  run: string | null;
  kind: "approval" | "reply" | "value";
  /** One line. */
  title: string;
  /** Of an approval. */
  fn: string | null;
  /**
   * Of an approval: every argument in full, canonical JSON with line breaks, the riskiest first. Null also where they
   * are longer than any message shows.
   */
  argumentsText: string | null;
  /** Of an approval in a message: the sentence that a person decides by (`sentence.ts`). */
  sentence?: string;
  /** Of an open approval in a message: how risky it looks, where a person should know (`risk-words.ts`). */
  risk?: ToldRisk;
  /** Of an approval, for programs: the very function and canonical arguments whose digest is approved, unescaped. */
  exact?: { fn: string; kwargs: string };
  /** Of an approval: how long the canonical arguments are, in characters, and the first names at their top. */
  argumentsLength: number;
  argumentNames: readonly string[];
  digest: string | null;
  /** The agent's own words; may be empty. */
  words: string;
  /** Of an approval: ways to reject; of a reply: ready-made answers; of a value: those that a press gives. */
  options: readonly ResponseOption[];
  /** The JSON Schema of a requested value, or null for any text. */
  schema: ForeignSchema | null;
  /** The buttons or the form for a value with a schema. */
  shape: Shape | null;
  /** Epoch ms, or null where there is no deadline. */
  expiresAt: number | null;
  /** The consequence if nobody answers, as a word and in one sentence. */
  silence: Silence;
  onSilence: string;
}

/** A risk that a message names: its word, and its reasons on one line, which are the call's own words in part. */
export interface ToldRisk {
  word: string;
  because: string;
}

type RequestViewBesideArguments = Omit<RequestView, "argumentsText" | "argumentNames">;

/** The most characters of arguments that a channel to people shows; no channel has a higher `wholeLimit`. */
export const LONGEST_IN_MESSAGE = 20_000;
/** A message that leaves the arguments to the page names the first of them. */
const MOST_NAMES = 100;
const LONGEST_NAME = 200;

/** Each consequence of nobody answering, in one sentence. */
const ON_SILENCE = {
  rejected: "If nobody answers in time it counts as rejected.",
  unanswered: "If nobody answers in time the agent goes on without an answer.",
  failed: "If nobody answers in time the task fails.",
  agent_waits: "There is no deadline; the agent waits.",
  work_waits: "There is no deadline; the work waits.",
} as const;

export const SILENCES = Object.keys(ON_SILENCE) as [Silence, ...Silence[]];
export type Silence = keyof typeof ON_SILENCE;

/** Renders a request for people (spec/a2h 10; spec/security 4). */
export function viewOf(request: Request): RequestView {
  const { form } = request;
  const call = form.kind === "approval" ? shownCall(form.kwargs) : { argumentsText: null, argumentNames: [] };
  return { ...viewBesideArguments(request), ...call };
}

/** Renders a request for a page that shows its arguments by itself. */
export function viewBesideArguments(request: Request): RequestViewBesideArguments {
  const { form } = request;
  const silence = silenceOf(request);
  const own = ownTaskOf(request);
  const run = own ? `${own.repo} / ${own.id}` : runOf(request);
  return {
    requestId: request.id,
    agent: askerName(request),
    run: typeof run === "string" ? printable(run) : null,
    kind: form.kind,
    title: shownTitle(request),
    fn: form.kind === "approval" ? printableExactly(form.fn) : null,
    ...(form.kind === "approval" && { exact: { fn: form.fn, kwargs: form.kwargs } }),
    argumentsLength: form.kind === "approval" ? form.kwargs.length : 0,
    digest: request.digest,
    words: shownText(request.words),
    options: offeredBy(request).map(shownOption),
    schema: form.kind === "value" ? form.schema : null,
    shape: form.kind === "value" && form.schema ? shownShape(shapeOf(form.schema)) : null,
    expiresAt: request.expiresAt >= NO_DEADLINE ? null : request.expiresAt,
    silence,
    onSilence: ON_SILENCE[silence],
  };
}

/** The run of a question has the folder beside it; that of a call stands among the arguments. */
function runOf(request: Request): unknown {
  const { folder } = promptFacts(request);
  const run = request.wire["run_id"];
  return folder === undefined ? run : `${String(run)}, in ${folder}`;
}

function shownCall(canonical: string): Pick<RequestView, "argumentsText" | "argumentNames"> {
  const members = riskiestMembers(canonical);
  const isShort = canonical.length <= LONGEST_IN_MESSAGE;
  return {
    argumentsText: isShort ? printableLinesExactly(indented(argumentsOf(members))).join("\n") : null,
    argumentNames: members.slice(0, MOST_NAMES).map(({ name }) => printableExactly(name.slice(0, LONGEST_NAME))),
  };
}

function silenceOf(request: Request): Silence {
  const about = taskAskOf(request)?.about;
  if (request.expiresAt >= NO_DEADLINE) return about === "review" ? "work_waits" : "agent_waits";
  if (about === "conflict") return "failed";
  return request.form.kind === "approval" ? "rejected" : "unanswered";
}

/** Returns whether the arguments hold a secret: they are never altered, and shown on our own pages alone. */
export function isGuarded({ wire }: Pick<Request, "wire">): boolean {
  return wire["guarded"] !== undefined;
}

/** Returns whether the argument of this name holds a secret: people see it whole once they press for it. */
export function holdsSecret({ wire }: Pick<Request, "wire">, name: string): boolean {
  const { guarded } = wire;
  return guarded === true || (Array.isArray(guarded) && guarded.includes(name));
}

/**
 * Returns the canonical JSON of an argument with its secrets masked; null where the argument holds none, or where it is
 * not known which of its characters do.
 */
export function maskedArgument({ wire }: Pick<Request, "wire">, name: string): string | null {
  const masked = wire["masked"] as Readonly<Record<string, string>> | undefined;
  return masked && Object.hasOwn(masked, name) ? (masked[name] ?? null) : null;
}

/** Returns the arguments with their secrets masked; without those of which it is not known which characters are secret. */
export function maskedArguments(request: Pick<Request, "wire">, kwargs: string): string {
  if (!isGuarded(request)) return kwargs;
  const members = membersOf(kwargs).flatMap(({ name, text }) => {
    if (!holdsSecret(request, name)) return [text];
    const masked = maskedArgument(request, name);
    return masked === null ? [] : [`${JSON.stringify(name)}:${masked}`];
  });
  return `{${members.join(",")}}`;
}

/**
 * Returns a call as it runs with edited arguments: `guard` says which of these hold a secret. Without it, as in outcomes
 * of version 0.1, the names that the request guards count.
 */
export function withEditedArguments<T extends Pick<Request, "form" | "wire">>(
  request: T,
  kwargs: string,
  guard?: GuardedArguments | null,
): T {
  const { form, wire } = request;
  if (form.kind !== "approval") return request;
  const { guarded: _, masked: __, ...open } = wire;
  return { ...request, form: { ...form, kwargs }, wire: guard === undefined ? wire : { ...open, ...guard } };
}

/** Returns the title of a request as people are shown it; that of a call is as exact as its name. */
export function shownTitle({ form, title }: Pick<Request, "form" | "title">): string {
  return form.kind === "approval" ? printableExactly(title) : printable(title);
}

/** Returns the ready-made answers, or ways to reject. */
export function optionsOf({ form }: Pick<Request, "form">): readonly ResponseOption[] {
  if (form.kind === "approval") return form.rejectOptions;
  return form.kind === "reply" ? form.options : [];
}

/** Returns what one press answers with: the options, or where a value is asked for, what its schema offers. */
export function offeredBy(request: Pick<Request, "form">): readonly ResponseOption[] {
  const { form } = request;
  if (form.kind !== "value" || form.schema === null) return optionsOf(request);
  const shape = shapeOf(form.schema);
  if (shape.kind === "choice") return shape.offers.map(({ label }) => ({ name: label, interactive: false }));
  if (shape.kind !== "decision") return [];
  return [
    { name: "approve", title: "Approve", interactive: shape.comment === "required" },
    { name: "reject", title: "Reject", interactive: shape.comment !== "none" },
  ];
}

function shownShape(shape: Shape): Shape {
  const shownField = <T extends FieldShape>(of: T): T =>
    of.kind === "choice"
      ? { ...of, offers: of.offers.map((offer) => ({ ...offer, label: printable(offer.label) })) }
      : { ...of, says: printable(of.says) };
  if (shape.kind === "decision" || shape.kind === "json") return shape;
  if (shape.kind !== "object") return shownField(shape);
  const fields = shape.fields.map(({ label, description, of, ...field }) => ({
    ...field,
    label: printable(label),
    ...(description !== undefined && { description: printable(description) }),
    of: shownField(of),
  }));
  return { kind: "object", fields };
}

/** Returns the requester's name for people: the coding agent itself, and not the attempt whose key it uses. */
export function askerName(request: Pick<Request, "asker" | "wire">): string {
  const name = ownTaskOf(request)?.agent ?? agentName(request.asker);
  const { subagent } = promptFacts(request);
  return printable(subagent === undefined ? name : `${name} (its agent ${subagent})`);
}

/** Returns where in a coding agent a prompt comes from. */
function promptFacts({ wire }: Pick<Request, "wire">): { subagent?: string; folder?: string } {
  return (wire["agent_prompt"] ?? {}) as { subagent?: string; folder?: string };
}

/**
 * Returns the name of a requesting program for people: the name its key was made for, or the name that a program
 * without a key gives itself, marked as such.
 */
export function agentName(principal: string): string {
  const name = principal.slice(principal.indexOf(":") + 1);
  return principal.startsWith("open:") ? `${name} (without a key)` : name;
}

function shownOption(option: ResponseOption): ResponseOption {
  return {
    name: option.name,
    interactive: option.interactive,
    title: printable(option.title ?? option.name),
    ...(option.description !== undefined && { description: shownText(option.description) }),
    ...(option.promptFill !== undefined && { promptFill: option.promptFill }),
  };
}

function shownText(text: string): string {
  return printableLines(text).join("\n");
}

/** Returns canonical JSON with line breaks and nothing else changed: every number keeps its digits. */
export function indented(canonical: string, width = 2): string {
  let depth = 0;
  let out = "";
  for (let i = 0; i < canonical.length; i += 1) {
    const unit = canonical[i] ?? "";
    const breakLine = () => `\n${" ".repeat(depth * width)}`;
    if (unit === '"') {
      const from = i;
      for (i += 1; canonical[i] !== '"'; i += 1) if (canonical[i] === "\\") i += 1;
      out += canonical.slice(from, i + 1);
    } else if (unit === "{" || unit === "[") {
      const isEmpty = canonical[i + 1] === "}" || canonical[i + 1] === "]";
      if (isEmpty) {
        out += unit + (canonical[i + 1] ?? "");
        i += 1;
        continue;
      }
      depth += 1;
      out += unit + breakLine();
    } else if (unit === "}" || unit === "]") {
      depth -= 1;
      out += breakLine() + unit;
    } else if (unit === ",") {
      out += unit + breakLine();
    } else {
      out += unit === ":" ? ": " : unit;
    }
  }
  return out;
}
