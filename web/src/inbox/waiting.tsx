import styles from "./ask.module.css";
import { AgentRequestWords } from "./agent-request-words.tsx";
import { Call } from "./call.tsx";
import { Facts } from "./parts.tsx";
import { text } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

/** An open ask that this person only reads, or has approved while others have not. */
export function Waiting({ ask }: { ask: WholeAsk }) {
  const counted = ask.decisions.some(({ mine }) => mine);
  return (
    <>
      {ask.kind === "approval" && <Call ask={ask} />}
      {ask.kind === "approval" && <AgentRequestWords ask={ask} />}
      <div class={styles.outcome} role="status">
        <p>{counted ? text.state.counted : text.state.notAsked}</p>
      </div>
      <Facts ask={ask} />
    </>
  );
}

/** Who has approved so far, where several must. */
export function Approvals({ ask }: { ask: WholeAsk }) {
  if (ask.decisions.length === 0 || ask.needs.rule === "one") return null;
  return (
    <section class={styles.ran}>
      <h2>{text.state.approvals}</h2>
      <ul>
        {ask.decisions.map(({ by, mine, comment, at }) => (
          <li key={at + (by.name ?? "")}>
            {text.state.approvedBy(text.who(by, mine))}
            {comment !== null && (
              <span class={`muted ${styles.prose}`}>
                : <bdi>{comment}</bdi>
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
