/** Sessions of named people, as they travel (spec/security 3). */
import { z } from "zod";
import { text } from "./fields.ts";

export const WireSignedIn = z
  .object({ person: z.object({ id: z.string(), name: z.string(), role: z.enum(["admin", "member"]) }) })
  .meta({ id: "SignedIn" });
export type WireSignedIn = z.output<typeof WireSignedIn>;

export const SignInCodeBody = z
  .object({
    code: text(1, 255).describe("The code of a one-time sign-in link."),
  })
  .meta({ id: "SignInCode" });
export type SignInCodeBody = z.output<typeof SignInCodeBody>;
