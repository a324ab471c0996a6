import type { Tx } from "../core/store/db.ts";
import type { RelayFact } from "./model/fact.ts";

/** Notifies this server's watchers once the transaction has committed. */
export function tellFact(tx: Pick<Tx, "tell">, fact: RelayFact): void {
  tx.tell(fact);
}
