/** Who can sign in, as admins see and change it. */
import { z } from "zod";

const person = {
  id: z.string().describe("The number that names the person at every door, as GET /humans has it."),
  name: z.string(),
  role: z.enum(["admin", "member"]),
};

export const WirePerson = z
  .object({
    ...person,
    sessions: z.int(),
    operator: z.boolean().describe("Runs this server: stays an admin, and cannot be removed."),
  })
  .meta({ id: "Person", description: "Somebody who can sign in." });
export type WirePerson = z.output<typeof WirePerson>;

export const WirePersonList = z.object({ people: z.array(WirePerson) }).meta({ id: "PersonList" });
export type WirePersonList = z.output<typeof WirePersonList>;

export const WireChangedPerson = z.object(person).meta({ id: "ChangedPerson" });
export type WireChangedPerson = z.output<typeof WireChangedPerson>;

export const WireSignInLink = z.object({ url: z.string(), expires_at: z.string() }).meta({ id: "SignInLink" });
export type WireSignInLink = z.output<typeof WireSignInLink>;

export const PersonRoleBody = z.object({ role: z.enum(["admin", "member"]) }).meta({ id: "PersonRole" });
export type PersonRoleBody = z.output<typeof PersonRoleBody>;
