/** Keys, as admins see and make them (spec/security 3). */
import { z } from "zod";
import { LONGEST_KEY_LIFE_MS, SHORTEST_KEY_LIFE_MS } from "../access/model/key-life.ts";
import { SCOPES } from "../lib/secrets/key-text.ts";
import { booleanField, checkedField, fields, idField, integerField, optional, textField, wordField } from "./fields.ts";

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

export const NewKeyBody = fields({
  name: textField("name", 1, 128, { description: "The purpose of the key; several keys may share one." }),
  scope: wordField("scope", SCOPES),
  person: optional(idField("person")),
  expires_in_seconds: optional(
    integerField("expires_in_seconds", SHORTEST_KEY_LIFE_MS / 1000, LONGEST_KEY_LIFE_MS / 1000, {
      description: "Left out, it is good until revoked.",
    }),
  ),
  self_respond: optional(booleanField("self_respond", { description: "An agent key that may answer itself." })),
  repos: optional(
    checkedField<string[]>(
      { type: "array", items: { type: "string" }, description: "The repositories an assign key is good for." },
      (value) =>
        Array.isArray(value) && value.every((name) => typeof name === "string")
          ? null
          : { message: "repos must be a list of names", field: "repos", constraint: "type" },
    ),
  ),
}).meta({ id: "NewKey" });
export type NewKeyBody = z.output<typeof NewKeyBody>;
