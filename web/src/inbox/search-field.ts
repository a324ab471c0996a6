/** The id of the field in which one writes what to look for. */
export const SEARCH = "search";

/** The field is to have the cursor once it is there. */
export const toFocus = { search: false };
