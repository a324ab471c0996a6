import { ROWS_PER_STEP, type Retention } from "../../core/loops/retention.ts";
import { transact } from "../../core/store/transact.ts";
import { deleteForgottenCalls } from "../store/gate-calls.ts";

/** Deletes gated calls whose requests are gone, but for those without a known end. */
export const sweepGate: Retention = (ctx) => transact(ctx, (tx) => deleteForgottenCalls(tx, ROWS_PER_STEP));
