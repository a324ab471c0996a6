import { z } from "zod";
import type { PreviewWay } from "../gate/model/preview.ts";
import { setting } from "./setting.ts";

const TOOLS = {
  error:
    "a block of names such as files.write_file, each with planned (true or false), or preview (a block with tool, the name of another tool, or with arguments, at least one)",
};
const name = z.string(TOOLS).regex(/^[a-z][a-z0-9_-]{0,63}\..{1,200}$/s, TOOLS);

const hasMembers = (members: object) => Object.keys(members).length > 0;

/** A preview that is the very call would run it before anybody is asked. */
function isItself(fn: string, preview: PreviewWay | undefined): boolean {
  return preview !== undefined && "tool" in preview && fn.slice(fn.indexOf(".") + 1) === preview.tool;
}

/** The block of the gate (docs/spec/gate.md). */
export const GATE_SETTINGS = {
  gate: z.object({
    tools: setting(
      z
        .record(
          name,
          z.strictObject(
            {
              planned: z.boolean(TOOLS).default(false),
              preview: z
                .union(
                  [
                    z.strictObject({ tool: z.string().min(1).max(200) }),
                    z.strictObject({ arguments: z.record(z.string(), z.unknown()).refine(hasMembers, TOOLS) }),
                  ],
                  TOOLS,
                )
                .optional(),
            },
            TOOLS,
          ),
          TOOLS,
        )
        .refine((tools) => Object.entries(tools).every(([fn, { preview }]) => !isItself(fn, preview)), TOOLS)
        .default({}),
      "Tools behind gates, such as files.write_file; planned: calls that a client sends together are one plan; preview: people see the targets.",
    ),
  }),
};
