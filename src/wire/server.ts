/** The state of the server, for clients of A2H (spec/a2h 6). */
import { z } from "zod";

export const WireServerStatus = z.object({ status: z.literal("ok"), version: z.string() }).meta({ id: "ServerStatus" });
export type WireServerStatus = z.output<typeof WireServerStatus>;

export const WireProtocolVersion = z.object({ version: z.string() }).meta({ id: "ProtocolVersion" });
export type WireProtocolVersion = z.output<typeof WireProtocolVersion>;

export const WireProject = z
  .object({
    name: z.string(),
    slug: z.string(),
    organization: z.string(),
    project_slug: z.string(),
    org_slug: z.string(),
  })
  .meta({ id: "Project" });
export type WireProject = z.output<typeof WireProject>;
