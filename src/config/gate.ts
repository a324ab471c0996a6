import { z } from "zod";
import { setting } from "./setting.ts";

const TOOLS = {
  error:
    "a block of names such as files.write_file, each with planned (true or false), or preview (a block with tool or arguments)",
};
const name = z.string(TOOLS).regex(/^[a-z][a-z0-9_-]{0,63}\..{1,200}$/s, TOOLS);

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
                    z.strictObject({ arguments: z.record(z.string(), z.unknown()) }),
                  ],
                  TOOLS,
                )
                .optional(),
            },
            TOOLS,
          ),
          TOOLS,
        )
        .default({}),
      "Tools behind gates, such as files.write_file; planned: calls that a client sends together are one plan; preview: people see the targets.",
    ),
  }),
};
