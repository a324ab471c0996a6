import type { Keyring } from "../../lib/secrets/keyring.ts";
import { sameText } from "../../lib/secrets/keyring.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import type { Refusal } from "../../refusals.ts";

/**
 * Writes where a list goes on as an opaque text that only this server can have made, for this list and this filter.
 */
export function writeCursor(keyring: Keyring, list: string, place: object): string {
  const body = Buffer.from(JSON.stringify(place)).toString("base64url");
  return `${body}.${keyring.mac("cursor", `${list} ${body}`)}`;
}

/** Reads what `writeCursor` wrote. @throws {Refusal} `invalid_input` for a forged one, or one of another list */
export function readCursor<Place>(keyring: Keyring, list: string, cursor: string): Place {
  const [body = "", mac = ""] = cursor.split(".");
  if (!sameText(mac, keyring.mac("cursor", `${list} ${body}`))) throw invalidCursor();
  return JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as Place;
}

export function invalidCursor(): Refusal {
  return refuseFields([{ message: "cursor is not valid here", field: "cursor", constraint: "invalid" }]);
}
