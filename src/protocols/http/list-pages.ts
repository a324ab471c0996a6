import { refuseFields } from "../../core/model/field-problem.ts";
import type { ListPosition } from "../../core/model/list-page.ts";
import type { Refusal } from "../../refusals.ts";
import { text } from "../../wire/fields.ts";
import { MOST_WHOLE, placeOf, wholeNumber } from "./query.ts";

/** So many rows have the pages of an administrator's lists. */
export const PAGE = 50;

/** The place where a page begins, as a query has it. */
export const cursorField = {
  cursor: text(1, 160).describe("`next` of the page before.").optional(),
};

/**
 * Returns where a page begins, of a cursor that this server gave; nothing for the first.
 *
 * @throws {Refusal} `invalid_input` for what cannot be one of a list whose rows are called so
 */
export function pageAfter(cursor: string | undefined, names: RegExp): { after?: ListPosition } {
  if (cursor === undefined) return {};
  const after = placeOf(cursor, "_");
  if (after && names.test(after.id)) return { after };
  throw notOurs();
}

/** The same for a list whose pages have a number alone. @throws {Refusal} `invalid_input` */
export function pageAfterNumber(cursor: string | undefined): number | undefined {
  const number = cursor === undefined ? undefined : wholeNumber(cursor, { min: 1, max: MOST_WHOLE });
  if (number === null) throw notOurs();
  return number;
}

function notOurs(): Refusal {
  return refuseFields([{ message: "cursor is not a page's next", field: "cursor", constraint: "format" }]);
}

/** Returns a place between two pages as a text that means something to this server alone. */
export function placeText(place: ListPosition | number | null): string | null {
  if (place === null) return null;
  return typeof place === "number" ? String(place) : `${place.at}_${place.id}`;
}
