import { refuseFields } from "../../../core/model/field-problem.ts";
import type { InboxPosition } from "../../../requests/model/inbox.ts";
import { isId } from "../../http/ids.ts";
import { placeOf } from "../../http/query.ts";

/** How the place among what was handed to the reader begins. */
const HANDED = "h";

/** Returns where a page of the inbox goes on, as a program gives it back. */
export const cursorOf = ({ isHanded, rank, at, createdAt, id }: InboxPosition): string =>
  `${isHanded ? HANDED : ""}${rank === undefined ? "" : `${rank}.`}${at}_${createdAt}_${id}`;

/** @throws {Refusal} `invalid_input` for text that is no cursor */
export function readCursor(before: string): InboxPosition {
  const isHanded = before.startsWith(HANDED);
  const place = isHanded ? before.slice(HANDED.length) : before;
  const ranked = placeOf(place, ".");
  const last = placeOf(ranked?.id ?? place, "_");
  const made = last && placeOf(last.id, "_");
  if (made && isId(made.id))
    return {
      at: last.at,
      createdAt: made.at,
      id: made.id,
      ...(ranked && { rank: ranked.at }),
      ...(isHanded && { isHanded }),
    };
  throw refuseFields([{ message: "before is not a page's next", field: "before", constraint: "format" }]);
}
