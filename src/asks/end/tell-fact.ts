import type { Tx } from "../../core/store/db.ts";
import type { AskFact } from "../model/fact.ts";

/** Notifies this server's watchers once the transaction has committed. */
export function tellFact(tx: Pick<Tx, "tell">, fact: AskFact): void {
  tx.tell(fact);
}
