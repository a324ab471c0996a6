/** Keys, as admins see and make them (spec/security 3). */
import { z } from "zod";
import { LONGEST_KEY_LIFE_MS, SHORTEST_KEY_LIFE_MS } from "../access/model/key-life.ts";
import { SCOPES } from "../lib/secrets/key-text.ts";
import { integer, text, texts } from "./fields.ts";

const orNull = z.string().nullable();

const key = {
  id: z.string(),
  name: z.string(),
  scope: z.enum(SCOPES),
  person: orNull,
  repos: z.array(z.string()).nullable(),
  self_respond: z.boolean(),
  created_at: z.string(),
  last_used_at: orNull,
  expires_at: orNull,
  revoked_at: orNull,
};

/** A key without its text, whether it is revoked or not. */
export const WireRevokedKey = z.object(key).meta({ id: "RevokedKey" });
export type WireRevokedKey = z.output<typeof WireRevokedKey>;

export const WireKeyList = z.object({ keys: z.array(WireRevokedKey) }).meta({ id: "KeyList" });
export type WireKeyList = z.output<typeof WireKeyList>;

export const WireCreatedKey = z.object({ ...key, key: z.string() }).meta({ id: "CreatedKey" });
export type WireCreatedKey = z.output<typeof WireCreatedKey>;

export const NewKeyBody = z
  .object({
    name: text(1, 128).describe("The purpose of the key; several keys may share one."),
    scope: z.enum(SCOPES),
    person: z.string().optional(),
    expires_in_seconds: integer(SHORTEST_KEY_LIFE_MS / 1000, LONGEST_KEY_LIFE_MS / 1000)
      .describe("Left out, it is good until revoked.")
      .optional(),
    self_respond: z.boolean().describe("An agent key that may answer itself.").optional(),
    repos: texts("must be a list of names").describe("The repositories an assign key is good for.").optional(),
  })
  .meta({ id: "NewKey" });
export type NewKeyBody = z.output<typeof NewKeyBody>;
