import { pluralsOf } from "../format.ts";

const counted = pluralsOf("ar");

/** Returns a number of calls in Arabic. */
export const countCalls = (n: number): string =>
  counted(n, {
    zero: "لا استدعاءات",
    one: "استدعاء واحد",
    two: "استدعاءان",
    few: "# استدعاءات",
    many: "# استدعاءً",
    other: "# استدعاء",
  });
