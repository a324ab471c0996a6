import type { JsonObject } from "../../lib/json/json-body.ts";
import { reaching, reading, writing, type Deed } from "../../tasks/model/action.ts";
import { lineDiff } from "../../lib/line-diff.ts";
import { UNKNOWN_ARGUMENTS } from "../../policy/model/policy.ts";
import { commandIn, isEmptyInput, readRawInput, titledCommand } from "./acp-raw-input.ts";
import { isObject, objectOf, objectsOf, textOf } from "./json-lines.ts";

const ADDRESSES = /https?:\/\/[^\s"'<>)]+/gi;

/** Ids that begin with the name of a tool. Services of models number calls by ids of their own. */
const NAMING_IDS = [
  /^([a-z_][\w.:-]{0,63}?)__\1_/i,
  /^([a-z_][\w.:-]{0,63})__/i,
  /^([a-z_][\w.:-]{0,63})-\d+(?:-[0-9a-f]+)?$/i,
];
const NAMELESS_IDS = /^(call|toolu|fc|chatcmpl|tool)([_-]|$)/;

/**
 * Returns the name of a tool, as far as the agent sends it: some put it into the call's id, some into its title. The
 * whole of it counts, because a grant for a name allows each tool of that name.
 */
export function toolOf(call: JsonObject): string {
  const id = textOf(call["toolCallId"]) ?? "";
  const named = NAMING_IDS.map((naming) => naming.exec(id)?.[1]).find((name) => name !== undefined);
  const title = textOf(call["title"]);
  if (named !== undefined && !NAMELESS_IDS.test(id)) return named;
  if (title !== undefined && /^[\w.:/-]{1,100}$/.test(title)) return title;
  return textOf(call["kind"]) ?? "other";
}

/** Returns the files that a call would write, as far as the agent shows their whole new texts. */
export function writesOf(call: JsonObject): { path: string; text: string }[] {
  return objectsOf(call["content"]).flatMap(({ type, path, newText }) =>
    type === "diff" && typeof path === "string" && typeof newText === "string" ? [{ path, text: newText }] : [],
  );
}

/**
 * Returns the input of a permission request, as people see it: as the request has it, and where the request leaves a
 * part out, as the agent said it of the call before. Ids and earlier output of the agent are left out, so that the same
 * call makes the same request after a resume.
 */
export function inputOf(asked: JsonObject, call: JsonObject): JsonObject {
  const isEmpty = isEmptyInput(asked["rawInput"]);
  const parts = ["title", "kind", "locations"].map((name) => [name, asked[name] ?? call[name]] as const);
  const rawInput = isEmpty ? (call["rawInput"] ?? asked["rawInput"]) : asked["rawInput"];
  const known = [...parts, ["rawInput", rawInput] as const, ["content", asked["content"]] as const];
  return Object.fromEntries(known.filter(([, value]) => value !== undefined && value !== null));
}

/**
 * Returns what a call of a tool is, as an ACP agent describes it: one deed for each path or host, so that a rule about
 * one allows no other. A call whose raw input is not understood to the last member is a use of a tool, which people
 * decide: the agent's own label tells little of what it runs (spec/assignment 8).
 */
export function acpDeeds(call: JsonObject, tool: string, tree: string): (Deed & { diff?: string })[] {
  const { kind } = call;
  const command = commandIn(call["rawInput"], tree);
  // Whatever else an agent calls it, a command line is run.
  if (command !== undefined) return [{ action: "execute", resource: command }];
  if (kind === "execute") return [{ action: "execute", resource: titledCommand(textOf(call["title"]) ?? tool) }];
  const input = readRawInput(call["rawInput"], tree);
  if (input === null) return [asTool(call, tool)];
  const raw = objectOf(call["rawInput"]);
  const diffs = objectsOf(call["content"]).filter(({ type, path }) => type === "diff" && typeof path === "string");
  const located = objectsOf(call["locations"]).flatMap(({ path }) => textOf(path) ?? []);
  const paths = new Set([...diffs.map(({ path }) => path as string), ...located, ...input.paths]);
  // The agent tells raw inputs, and this one not: its label says nothing of where the call reads, writes or reaches.
  if (paths.size === 0 && isObject(call["rawInput"]) && isEmptyInput(raw))
    return [withoutArguments(asTool(call, tool))];
  if (diffs.length > 0 || kind === "edit" || kind === "delete" || kind === "move") {
    const written = [...paths].map((path) => ({ ...writing(path, tree), ...diffOf(path, diffs, raw) }));
    return written.length > 0 ? written : [{ action: "tool", resource: tool }];
  }
  if (kind === "fetch") return fetchesOf(input.address ?? textOf(call["title"]) ?? "", tool);
  if (kind === "read" || kind === "search") {
    return [...(paths.size > 0 ? paths : ["."])].map((path) => reading(path, tree));
  }
  return [asTool(call, tool)];
}

/** A kind is the name of many tools: a call that is named by its kind alone is known by its title. */
function asTool(call: JsonObject, tool: string): Deed {
  const isNamed = tool !== (textOf(call["kind"]) ?? "other");
  return { action: "tool", resource: (!isNamed && textOf(call["title"])) || tool };
}

/** A grant for the tool does not allow a call whose arguments are unknown. */
function withoutArguments({ action, resource }: Deed): Deed {
  return { action, resource: resource + UNKNOWN_ARGUMENTS };
}

/** Returns one request for each host that a prompt to fetch names. */
function fetchesOf(text: string, tool: string): Deed[] {
  const hosts = new Set((text.match(ADDRESSES) ?? []).map((url) => reaching(url).resource));
  return [...(hosts.size > 0 ? hosts : [tool])].map((resource) => ({ action: "network", resource }));
}

function diffOf(path: string, diffs: readonly JsonObject[], raw: JsonObject): { diff?: string } {
  const own = diffs.find((one) => one["path"] === path);
  const diff = own
    ? lineDiff(textOf(own["oldText"]) ?? "", textOf(own["newText"]) ?? "").join("\n")
    : (textOf(raw["diff"]) ?? textOf(raw["content"]));
  return diff ? { diff } : {};
}
