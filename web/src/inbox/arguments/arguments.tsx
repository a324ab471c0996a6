import { useState } from "preact/hooks";
import styles from "./arguments.module.css";
import { DiffLines } from "./diff-lines.tsx";
import { text } from "../text.ts";
import type { ArgumentRow, TypedArgument } from "../wire.ts";

/** Texts longer than these may need scrolling, so the keyboard can reach them. In characters. */
const SHORT = 200;
const LONG = 1000;

/** Returns the id of the element that holds an argument whole; `within` is the beginning of the ids of its call. */
export const secretId = (name: string, within = ""): string => `${within}secret-${name}`;

/**
 * Every argument in full, as what it is, and its JSON one press away; what is long scrolls in a box of its own. Secrets
 * are masked until somebody presses for them.
 */
export function Arguments(props: {
  rows: readonly ArgumentRow[];
  label: string;
  within?: string;
  onOpen?: (name: string) => void;
}) {
  const { rows, label, within, onOpen } = props;
  const [raw, setRaw] = useState(false);
  const hasBoth = rows.some(({ typed }) => typed !== null);
  return (
    <>
      <div class={styles.head}>
        <h2>{label}</h2>
        {hasBoth && (
          <button type="button" class="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>
            {text.ask.raw}
          </button>
        )}
      </div>
      {rows.length === 0 && <p class="muted">{text.ask.noArguments}</p>}
      {raw && <p class="small muted">{text.ask.rawLead}</p>}
      {rows.length > 0 && (
        <dl class={styles.arguments} aria-label={label}>
          {rows.map((row, at) => (
            <Argument key={at} row={row} raw={raw} within={within} onOpen={onOpen} />
          ))}
        </dl>
      )}
    </>
  );
}

/** The value of an argument as what it is. */
export function ArgumentValue({ row }: { row: ArgumentRow }) {
  return row.typed === null ? <Raw row={row} /> : <Typed name={row.name} typed={row.typed} />;
}

function Argument(props: {
  row: ArgumentRow;
  raw: boolean;
  within: string | undefined;
  onOpen: ((name: string) => void) | undefined;
}) {
  const { row, raw, within, onOpen } = props;
  const typed = raw ? null : row.typed;
  const value = <ArgumentValue row={raw ? { ...row, typed } : row} />;
  const kind = typed === null ? "" : text.ask.kindOf(typed);
  const length = row.text.length > LONG ? text.ask.length(row.text.length) : "";
  const notes = [kind, length].filter((note) => note !== "");
  return (
    <div>
      <dt>
        <bdi dir="ltr">{row.name}</bdi>
        {notes.length > 0 && <span class={styles.kind}> {notes.join(", ")}</span>}
      </dt>
      <dd>
        {row.secret ? (
          <>
            {row.masked !== null && <Raw row={{ ...row, text: row.masked }} />}
            <details
              class={styles.guarded}
              id={secretId(row.name, within)}
              onToggle={({ currentTarget: { open } }) => open && onOpen?.(row.name)}
            >
              <summary>{text.ask.secret(row.name)}</summary>
              {value}
            </details>
          </>
        ) : (
          value
        )}
      </dd>
    </div>
  );
}

/** For a value that may be long: a box that scrolls, by the keyboard too. */
const boxed = (name: string, isLong: boolean) =>
  isLong && { tabIndex: 0, role: "region" as const, "aria-label": text.ask.argument(name) };
const boxClass = (own: string | undefined, isLong: boolean): string => [own, isLong ? styles.box : ""].join(" ");

/** The JSON, left to right, whatever is written in it. */
function Raw({ row: { name, text: value } }: { row: ArgumentRow }) {
  const isLong = value.length > SHORT;
  return (
    <pre class={boxClass(styles.raw, isLong)} dir="ltr" {...boxed(name, isLong)}>
      {value}
    </pre>
  );
}

/** A value as what it is; `name` is that of its place. */
export function Typed({ name, typed }: { name: string; typed: TypedArgument }) {
  switch (typed.kind) {
    case "text":
      return <Lines name={name} lines={typed.lines} />;
    case "diff":
      return <DiffLines lines={typed.lines} label={text.ask.argument(name)} />;
    case "list":
      return <List name={name} items={typed.items} />;
    case "table":
    case "fields":
      return <Table name={name} typed={typed} />;
    case "link":
      return <Address {...typed} />;
    case "date":
      return <Beside shown={text.ask.moment(typed.at)} written={typed.text} />;
    case "money":
      return <Beside shown={text.ask.money(typed.amount, typed.currency)} written={typed.text} />;
  }
}

function Lines({ name, lines }: { name: string; lines: readonly string[] }) {
  const isLong = lines.length > 12 || lines.reduce((sum, line) => sum + line.length, 0) > 2 * SHORT;
  return (
    <div class={boxClass(styles.lines, isLong)} {...boxed(name, isLong)}>
      {lines.map((line, at) => (
        <span key={at} dir="auto">
          {line}
        </span>
      ))}
    </div>
  );
}

function List({ name, items }: { name: string; items: readonly string[] }) {
  const isLong = items.length > 12 || items.join("").length > 2 * SHORT;
  return (
    <div class={boxClass("", isLong)} {...boxed(name, isLong)}>
      <ul class={styles.list}>
        {items.map((item, at) => (
          <li key={at}>
            <bdi>{item}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Wider than a phone, it scrolls sideways in its own box. */
function Table({ name, typed }: { name: string; typed: TypedArgument & { kind: "table" | "fields" } }) {
  const isTable = typed.kind === "table";
  return (
    <div class={styles.box} {...boxed(name, true)}>
      <table class={isTable ? styles.table : styles.fields}>
        {isTable && (
          <thead>
            <tr>
              {typed.columns.map((column) => (
                <th key={column} scope="col" dir="auto">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {typed.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) =>
                !isTable && column === 0 ? (
                  <th key={column} scope="row" dir="auto">
                    {cell}
                  </th>
                ) : (
                  <td key={column} dir="auto">
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** An address in full, and where a browser goes that opens it. */
function Address({ text: written, href, host }: { text: string; href: string; host: string }) {
  return (
    <div class={styles.beside}>
      <a class={styles.link} dir="ltr" href={href} target="_blank" rel="noreferrer">
        {written}
      </a>
      <span class="small muted">{text.ask.opens(host)}</span>
    </div>
  );
}

/** The value as its reader understands it, beside the value that runs. */
function Beside({ shown, written }: { shown: string; written: string }) {
  return (
    <div class={styles.beside}>
      <bdi>{shown}</bdi>
      <code class="muted" dir="ltr">
        {written}
      </code>
    </div>
  );
}
