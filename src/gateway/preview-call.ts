import { findAlikeNames } from "./alike-names.ts";
import { previewDigest, readPreview, type Preview, type PreviewWay } from "../gate/model/preview.ts";
import type { ListedTool } from "../gate/model/tool.ts";
import { membersOf, withEveryDigit } from "../lib/json/exact-json.ts";
import { BadJson, parseJsonBody } from "../lib/json/json-body.ts";
import type { JudgedTools } from "./judged-tools.ts";
import { CALL, type RpcJson } from "./messages.ts";
import type { ClientCall } from "./tool-call.ts";
import { protocolMetaOf, type AskServer, type ToolList } from "./tool-list.ts";

/** The parts of a gate that a preview needs. */
export interface PreviewContext {
  tools: ToolList;
  judged: Pick<JudgedTools, "judge">;
  askServer: AskServer;
}

/** A preview that cannot be shown, with a sentence for people. */
export class PreviewFailed extends Error {}

const MOST_DEPTH = 64;

/**
 * Has the server preview a call, by the tool that the settings name. Nobody is asked about that: the settings allow it,
 * and its tool must be what was accepted.
 *
 * @throws {PreviewFailed} @throws {ServerUnreachable} @throws {RequestRefused}
 */
export async function previewCall(
  on: PreviewContext,
  call: ClientCall,
  way: PreviewWay,
  signal: AbortSignal,
): Promise<Preview> {
  const name = "tool" in way ? way.tool : call.name;
  const tool = await on.tools.find({ ...call, name }, signal);
  if (!tool) throw new PreviewFailed(`its server has no tool ${name} that shows its targets`);
  if (await isHeldBack(on, tool, signal)) throw new PreviewFailed(`${name}, which shows its targets, has changed`);
  const args = "tool" in way ? call.args : { ...call.args, ...way.arguments };
  const stranger = "tool" in way ? undefined : strangerTo(tool, way.arguments);
  // A server that does not know the argument would pass over it, and run the call.
  if (stranger !== undefined)
    throw new PreviewFailed(`${name} has no argument ${stranger}, by which it would show them`);
  if (findAlikeNames(args, tool["inputSchema"])) throw new PreviewFailed("its names are like those of its preview");
  const meta = protocolMetaOf(call);
  const result = await on.askServer(CALL, { name, arguments: args, ...(meta && { _meta: meta }) }, signal);
  const preview = result["isError"] === true ? undefined : readPreview(contentOf(result));
  if (!preview) throw new PreviewFailed("its server shows no list of at most 500 targets that can be read");
  return preview;
}

/** Returns the first argument that the schema of a tool does not name. */
function strangerTo({ inputSchema }: ListedTool, args: RpcJson): string | undefined {
  const properties = membersOf(membersOf(inputSchema)["properties"]);
  return Object.keys(args).find((name) => !Object.hasOwn(properties, name));
}

async function isHeldBack(on: PreviewContext, tool: ListedTool, signal: AbortSignal): Promise<boolean> {
  return (await on.judged.judge([tool], signal)).has(tool.name);
}

/** Returns whether the targets are those that people approved, as `digest` names them. @throws as `previewCall` */
export async function hasSameTargets(
  on: PreviewContext,
  call: ClientCall,
  { way, digest }: { way: PreviewWay; digest: string },
  signal: AbortSignal,
): Promise<boolean> {
  return previewDigest(await previewCall(on, call, way, signal)) === digest;
}

/** Returns the structured content of a result, or the JSON of its only text. */
function contentOf({ structuredContent, content }: RpcJson): RpcJson {
  const members = membersOf(structuredContent);
  if ("targets" in members) return members;
  const [first, ...others] = Array.isArray(content) ? (content as unknown[]) : [];
  const { type, text } = membersOf(first);
  if (type !== "text" || typeof text !== "string" || others.length > 0) return {};
  try {
    const bytes = new TextEncoder().encode(text);
    return membersOf(withEveryDigit(bytes, parseJsonBody(bytes, { maxDepth: MOST_DEPTH })));
  } catch (error) {
    if (error instanceof BadJson) return {};
    throw error;
  }
}
