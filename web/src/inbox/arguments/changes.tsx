import styles from "./changes.module.css";
import { ArgumentValue } from "./arguments.tsx";
import { text } from "../text.ts";
import type { ArgumentRow } from "../wire.ts";

/** A longer value begins on one line, and is whole at a press. In characters. */
const SHORT = 120;

/** The arguments that differ, in the order of the card: as the agent gave each, and as it runs. */
export function Changes({ before, after }: { before: readonly ArgumentRow[]; after: readonly ArgumentRow[] }) {
  const all = [...after, ...before.filter(({ name }) => !after.some((one) => one.name === name))];
  const changed = all.flatMap(({ name }) => {
    const [was, kind] = [before, after].map((rows) => rows.find((row) => row.name === name));
    return was?.text === kind?.text ? [] : [{ name, was, is: kind }];
  });
  return (
    <dl class={styles.changes} aria-label={text.changes.label}>
      {changed.map(({ name, was, is }) => (
        <div key={name}>
          <dt>
            <bdi dir="ltr">{name}</bdi>
          </dt>
          <dd>
            <Side row={was} />
            <span class={styles.to}>
              <span class="unseen">{text.changes.to}</span>
            </span>
            <Side row={is} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Side({ row }: { row: ArgumentRow | undefined }) {
  if (!row) return <span class="muted">{text.changes.none}</span>;
  if (!row.secret && row.text.length <= SHORT) return <ArgumentValue row={row} />;
  const beginning = row.secret ? text.ask.secret(row.name) : `${row.text.slice(0, SHORT)}…`;
  return (
    <details>
      <summary>
        <bdi>{beginning}</bdi>
      </summary>
      <ArgumentValue row={row} />
    </details>
  );
}
