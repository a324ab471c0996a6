import { later } from "../parts/later.tsx";
import { Arguments } from "./arguments/arguments.tsx";
import styles from "./arguments/arguments.module.css";
import { text } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

/** Plans are rare. */
export const PlanCard = later(async () => (await import("./plan/plan-card.tsx")).PlanCard);

/** Shows the call with its arguments, or the calls of a plan. `onOpen` gets the name of each argument whose secret is looked at. */
export function Call({ ask, onOpen }: { ask: WholeAsk; onOpen?: (name: string) => void }) {
  if (ask.plan !== null) return <PlanCard ask={ask} />;
  return (
    <section class={styles.call} aria-label={text.ask.call}>
      <Arguments rows={ask.arguments ?? []} label={text.ask.arguments} {...(onOpen && { onOpen })} />
    </section>
  );
}
