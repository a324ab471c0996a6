import { z } from "zod";

/** The place where the page after this one begins. */
export const nextField = z.string().nullable().describe("`cursor` of the next page; null after the last.");
