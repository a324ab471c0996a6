/** The task of a coding agent that an ask in the inbox is about. */
import { z } from "zod";
import { SANDBOXES } from "../core/model/sandbox.ts";

export const taskField = z
  .object({
    repo: z.string(),
    id: z.string(),
    attempt: z.int(),
    about: z.enum(["review", "conflict", "wish"]),
    agent: z.string().nullable(),
    sandbox: z.enum(SANDBOXES).nullable(),
  })
  .nullable()
  .describe("The task of a coding agent that it is about, and what of it");
