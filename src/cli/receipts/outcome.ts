import { printable, printableJson } from "../../lib/printable.ts";
import { openOutcome, presentKeys } from "../../lib/receipt.ts";
import { EXIT, type Io } from "../command.ts";
import type { KnownKeys, ReceiptAddress } from "./source.ts";
import { vouchedLine, whyUnopened } from "./unopened.ts";

/** The address at which a statement stands, and the keys that may have signed it. */
interface Checking {
  place: ReceiptAddress | null;
  known: KnownKeys;
  json: boolean;
}

/** Prints how an approved call ended, from a signed statement; returns the exit code, which is 0 for a call that was done. */
export async function verifyOutcome(jws: string, { place, known, json }: Checking, io: Io): Promise<number> {
  const refuse = (says: string): number => {
    io.tell(says);
    return EXIT.refused;
  };
  const { set, from } = known;
  const outcome = await openOutcome(jws, place === null ? set : presentKeys(set));
  if (!outcome) return refuse(await whyUnopened(jws, known));
  if (place !== null && outcome.receipt !== place.id)
    return refuse(`At that address stands the end of another call, ${printable(outcome.receipt)}.`);
  if (json) io.out(printableJson(JSON.stringify(outcome)));
  const { state, at, receipt, result_digest: digest } = outcome;
  const line = `${state} at ${new Date(at).toISOString()}; receipt ${receipt}${digest === null ? "" : `; result ${digest}`}`;
  if (state !== "done") return refuse(`This call was not done: ${printable(line)}.`);
  if (!json) io.out(printable(line));
  io.tell(printable(vouchedLine(outcome, { set, from })));
  return EXIT.done;
}
