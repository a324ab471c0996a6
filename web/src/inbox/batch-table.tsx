import { besideList } from "../filter.ts";
import { Link, useLocation } from "../router.tsx";
import { useKeys } from "../keys.ts";
import { ArgumentValue } from "./arguments/arguments.tsx";
import styles from "./batch.module.css";
import { text } from "./batch-text.ts";
import { Asked, Deadline } from "./parts.tsx";
import { text as inboxText } from "./text.ts";
import type { ArgumentRow, Batch, BatchedCall } from "./wire.ts";

interface Ticking {
  isTicked: (call: BatchedCall) => boolean;
  mayTick: (call: BatchedCall) => boolean;
  onTick: (calls: readonly BatchedCall[], on: boolean) => void;
}

/** The calls, one below the other, with a column for each argument that differs. `x` ticks the one that has the focus. */
export function Calls(props: Ticking & { batch: Batch; waiting: ReadonlySet<string> }) {
  const { batch, waiting, isTicked, mayTick, onTick } = props;
  useRowKeys(props);
  const lower = batch.calls.filter((call) => mayTick(call) && call.risk !== "high");
  const ticked = batch.calls.filter(isTicked).length;
  return (
    <section aria-label={text.differing}>
      <p class="small">
        <label class={styles.all}>
          <input
            type="checkbox"
            checked={lower.length > 0 && lower.every(isTicked)}
            onChange={({ currentTarget: { checked } }) => onTick(lower, checked)}
          />
          {text.tickAll}
        </label>{" "}
        <span class="muted" role="status">
          {text.ticked(ticked, batch.calls.length)}
        </span>
      </p>
      <div class={styles.scroll}>
        <table class={styles.table}>
          <thead>
            <tr>
              <td class={styles.tick} />
              <th scope="col">{text.call}</th>
              {batch.differing.map((name) => (
                <th key={name} scope="col">
                  <bdi dir="ltr">{name}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {batch.calls.map((call) => (
              <Row
                key={call.id}
                call={call}
                columns={batch.differing}
                isGone={!waiting.has(call.id)}
                tick={mayTick(call) ? { on: isTicked(call), set: (on) => onTick([call], on) } : null}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Moves through the calls, ticks the one that has the focus, and opens it. */
function useRowKeys({ batch, isTicked, mayTick, onTick }: Ticking & { batch: Batch }): void {
  const [, go] = useLocation();
  const callInFocus = (): BatchedCall | undefined => {
    const row = document.activeElement?.closest<HTMLElement>("[data-call]");
    return batch.calls.find(({ id }) => id === row?.dataset["call"]);
  };
  /** At an end it is the list beside that moves. */
  const move = (step: 1 | -1): boolean => {
    const rows = [...document.querySelectorAll<HTMLElement>("[data-call]")];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const row = rows[at < 0 ? 0 : at + step];
    row?.querySelector<HTMLElement>("input, a")?.focus();
    return row !== undefined;
  };
  const actions = {
    j: () => move(1),
    k: () => move(-1),
    x: () => {
      const call = callInFocus();
      if (call && mayTick(call)) onTick([call], !isTicked(call));
    },
    Enter: () => {
      const call = callInFocus();
      if (call) go(besideList(`/inbox/${call.id}`));
    },
  };
  useKeys(actions, { names: { Enter: "open" } });
}

function Row(props: {
  call: BatchedCall;
  columns: readonly string[];
  isGone: boolean;
  tick: { on: boolean; set: (on: boolean) => void } | null;
}) {
  const { call, columns, isGone, tick } = props;
  const marksOf = (argument: string | null) => call.marks.filter((mark) => mark.argument === argument);
  return (
    <tr data-call={call.id}>
      <td class={styles.tick}>
        {tick && (
          <input
            type="checkbox"
            aria-label={text.tick(call.sentence)}
            checked={tick.on}
            onChange={({ currentTarget: { checked } }) => tick.set(checked)}
          />
        )}
      </td>
      <th scope="row" class={styles.call}>
        <Link href={besideList(`/inbox/${call.id}`)} class={isGone ? styles.gone : undefined} dir="auto">
          {call.sentence}
        </Link>
        {isGone && <span class="muted">{text.gone}</span>}
        {!isGone && call.alone !== null && <span class="muted">{text.alone[call.alone]}</span>}
        {(call.risk === "high" || call.risk === "unjudged") && (
          <span class={call.risk === "high" ? styles.high : "muted"}>
            {[inboxText.risk[call.risk], ...call.risk_reasons.slice(0, 1).map(({ says }) => says)]
              .filter(Boolean)
              .join(": ")}
          </span>
        )}
        <Marks marks={marksOf(null)} />
        <span class="muted">
          <Asked at={call.created_at} />
          {call.expires_at !== null && (
            <>
              {", "}
              <Deadline until={call.expires_at} />
            </>
          )}
        </span>
      </th>
      {columns.map((name) => (
        <Cell key={name} name={name} row={call.arguments.find((one) => one.name === name)} marks={marksOf(name)} />
      ))}
    </tr>
  );
}

function Cell({ name, row, marks }: { name: string; row: ArgumentRow | undefined; marks: BatchedCall["marks"] }) {
  const isOdd = marks.some(({ kind }) => kind !== "highest");
  return (
    <td data-name={name} class={isOdd ? styles.odd : undefined}>
      {row === undefined ? (
        <span class="muted">{inboxText.changes.none}</span>
      ) : (
        <ArgumentValue row={row.secret ? { ...row, typed: null, text: row.masked ?? "" } : row} />
      )}
      <Marks marks={marks} />
    </td>
  );
}

function Marks({ marks }: { marks: BatchedCall["marks"] }) {
  return (
    <>
      {marks.map((mark) => (
        <div key={mark.kind} class={mark.kind === "highest" ? "muted" : styles.mark}>
          <bdi>{text.mark(mark)}</bdi>
        </div>
      ))}
    </>
  );
}
