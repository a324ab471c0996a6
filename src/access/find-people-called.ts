import type { Queryable } from "../core/store/db.ts";
import { findHumanByNumber, findTwoNamed, type Human } from "./store/humans.ts";

/** Returns whom a number or a name means: two where several have the name. */
export async function findPeopleCalled(on: Queryable, called: string): Promise<Human[]> {
  const found = /^[1-9]\d{0,14}$/.test(called) ? await findHumanByNumber(on, Number(called)) : undefined;
  return found ? [found] : findTwoNamed(on, called);
}
