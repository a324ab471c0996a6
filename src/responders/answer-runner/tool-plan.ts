import type { Ask, ToolCaps } from "../../asks/model/ask.ts";
import type { Role } from "../roles/role.ts";
import { type CapsArgs, unenforceableCap } from "./caps.ts";
import type { ToolSettings } from "./deps.ts";

export const CODE_RUN = "code.run";
export const ARTIFACT_WRITE = "artifact.write";
const BUILT_IN: ReadonlySet<string> = new Set([CODE_RUN, ARTIFACT_WRITE]);

/** The tools of an ask that does not list any. */
const USUAL_TOOLS = [CODE_RUN];

/** One tool that a run may use. */
export interface PlannedTool {
  name: string;
  caps: ToolCaps;
  /** Absent for those that are Parley's own. */
  settings?: ToolSettings;
}

export type ToolPlan =
  | { tools: readonly PlannedTool[] }
  /** Why nobody has to be asked: none of the tools that the ask allows exists here. */
  | { skip: string }
  /** The cap that this server cannot enforce (`E_CAPS_VIOLATION`). */
  | { violation: string };

/**
 * Returns the tools of a run: those that the ask allows, the role does not exclude, and the server has
 * (spec/relay 12).
 */
export function planTools(
  ask: Pick<Ask, "constraints" | "envelope">,
  role: Pick<Role, "toolWhitelist"> | null,
  configured: Readonly<Record<string, ToolSettings>>,
): ToolPlan {
  const { allowedTools } = ask.constraints;
  const allowed = [...new Set(allowedTools ?? USUAL_TOOLS)];
  const here = allowed.filter((name) => BUILT_IN.has(name) || Object.hasOwn(configured, name));
  if (allowed.length > 0 && here.length === 0) return { skip: "none of the allowed tools is configured" };

  const whitelist = role?.toolWhitelist ?? null;
  const caps = ask.envelope?.tool_caps ?? {};
  const tools = here
    .filter((name) => whitelist === null || whitelist.includes(name))
    .map((name): PlannedTool => {
      const own = Object.hasOwn(caps, name) ? caps[name] : undefined;
      const settings = BUILT_IN.has(name) ? undefined : configured[name];
      return { name, caps: own ?? {}, ...(settings && { settings }) };
    });
  for (const { name, caps: own, settings } of tools) {
    const capsArgs: CapsArgs = settings?.caps_args ?? {};
    const cap = unenforceableCap(own, capsArgs);
    if (cap !== null) return { violation: `${cap} cannot be enforced for ${name}` };
  }
  return { tools };
}
