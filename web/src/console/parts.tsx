import { ParleyError } from "@parley/sdk/errors";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { besideList } from "../filter.ts";
import { Link, useLocation } from "../router.tsx";
import { language, locale } from "../language.ts";
import roomStyles from "../answer/answer-room.module.css";
import feedStyles from "../answer/feed.module.css";
import formStyles from "../inbox/arguments/schema-form.module.css";
import { useKeys } from "../keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Notice } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { moment } from "../moment.ts";
import { useTitle } from "../title.ts";
import { wide } from "../wide.ts";
import styles from "./console.module.css";
import { text } from "./text.ts";

/** A list beside one thing of it on a wide screen, one of the two on a phone. */
export function Sides({ list, detail }: { list: ComponentChildren; detail: ComponentChildren | undefined }) {
  const isWide = wide.use();
  if (!isWide) return <>{detail ?? list}</>;
  return (
    <div class={`${roomStyles.sides} ${styles.sides}`}>
      <div class={roomStyles.list}>{list}</div>
      {detail ?? <p class={`muted ${styles.choose}`}>{text.choose}</p>}
    </div>
  );
}

/** The list of a section, with what makes a new one. */
export function List(props: {
  title: string;
  isAlone: boolean;
  action?: ComponentChildren;
  children: ComponentChildren;
}) {
  const Heading = props.isAlone ? "h1" : "h2";
  return (
    <section>
      <header class={feedStyles.header}>
        <Heading>{props.title}</Heading>
        {props.action}
      </header>
      {props.children}
    </section>
  );
}

export interface RowOf {
  id: string;
  title: string;
  facts: readonly ComponentChildren[];
}

/** Rows that open their thing, beside the list as it was chosen; j and k walk through them. */
export function Rows({ base, rows, current }: { base: string; rows: readonly RowOf[]; current: string | undefined }) {
  const [path, go] = useLocation();
  // A list on the page of another one has no choice in the address.
  const hrefOf = (id: string): string => (path.startsWith(base) ? besideList(`${base}/${id}`) : `${base}/${id}`);
  const move = (step: 1 | -1): void => {
    const next = rows[Math.max(0, rows.findIndex((one) => one.id === current) + step)];
    if (next && next.id !== current) go(hrefOf(next.id));
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  return (
    <ul>
      {rows.map(({ id, title, facts }) => (
        <li key={id} class={feedStyles.row}>
          <Link href={hrefOf(id)} class={feedStyles.link} aria-current={id === current ? "true" : undefined}>
            <span class={feedStyles.prompt} dir="auto">
              {title}
            </span>
            <span class={feedStyles.facts}>
              {facts.map((fact, at) => (
                <span key={at}>{fact}</span>
              ))}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** One thing, or one task: its title is the page's. One that others gave has the direction of its own script. */
export function Detail(props: { title: string; isGiven?: boolean; children: ComponentChildren }) {
  useTitle(props.title);
  return (
    <article class={styles.detail} tabIndex={-1} data-focus>
      <h1 dir={props.isGiven ? "auto" : undefined}>{props.title}</h1>
      {props.children}
    </article>
  );
}

/**
 * Moves the focus to the detail itself, once the focused element has gone; the detail is then read from its beginning.
 */
export function focusDetail(): void {
  scrollTo(0, 0);
  document.querySelector<HTMLElement>("[data-focus]")?.focus({ preventScroll: true });
}

/** A sentence of the server, which writes English. */
export function ServerSays({ words }: { words: string }) {
  return <bdi lang="en">{words}</bdi>;
}

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class={styles.section}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** The page for a thing that has gone, or never existed. */
export function Gone({ to }: { to: string }) {
  return (
    <Detail title={text.nothingHere}>
      <p class="muted">{text.nothingHereHint}</p>
      <div>
        <Link href={to} class="button primary">
          {text.cancel}
        </Link>
      </div>
    </Detail>
  );
}

/** A page whose thing could not be read: it has gone, or there is trouble. */
export function Unread(props: { error: unknown; title: string; to: string; onTryAgain: () => void }) {
  const { error, title, to, onTryAgain } = props;
  if (error instanceof ParleyError && error.status === 404) return <Gone to={to} />;
  return <Trouble title={title} error={error} onTryAgain={onTryAgain} />;
}

/** Facts in pairs of a name and a value. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Returns words one after the other, with the comma of the reader's language. */
export const listed = (words: readonly string[]): string => words.join(language === "ar" ? "، " : ", ");

const clocks = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });

/** Returns the time of day of a moment in epoch milliseconds, to the second. */
export const clock = (at: number): string => clocks.format(at);

export function Moment({ time }: { time: string | number }) {
  return <time dateTime={typeof time === "number" ? new Date(time).toISOString() : time}>{moment(time)}</time>;
}

/** A named control with what is to be known about it. */
export function Field(props: {
  label: string;
  hint?: string | undefined;
  children: (control: { id: string; "aria-describedby": string | undefined }) => ComponentChildren;
}) {
  const { label, hint } = props;
  const id = useId();
  const says = hint === undefined || hint === "" ? undefined : `${id}-says`;
  return (
    <div class={formStyles.field}>
      <label for={id}>{label}</label>
      {says && (
        <p class={formStyles.says} id={says}>
          {hint}
        </p>
      )}
      {props.children({ id, "aria-describedby": says })}
    </div>
  );
}

/** Returns the direction of what is typed: an empty field has that of the page, as its hint does. */
export const dirOf = (value: string): "auto" | undefined => (value === "" ? undefined : "auto");

export function TextField(props: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: string;
  rows?: number;
  required?: boolean;
}) {
  const { label, value, hint, rows = 0, required = false } = props;
  const onInput = (event: { currentTarget: { value: string } }): void => props.onInput(event.currentTarget.value);
  return (
    <Field label={label} hint={hint}>
      {(control) =>
        rows === 0 ? (
          <input
            type="text"
            dir={dirOf(value)}
            autoComplete="off"
            {...control}
            value={value}
            required={required}
            onInput={onInput}
          />
        ) : (
          <textarea
            dir="auto"
            autoComplete="off"
            {...control}
            value={value}
            required={required}
            rows={rows}
            onInput={onInput}
          />
        )
      }
    </Field>
  );
}

export function SelectField<T extends string>(props: {
  label: string;
  value: T;
  /** The label of a given one is the words of others. */
  options: readonly { value: T; label: string; isGiven?: boolean }[];
  onChoose: (value: T) => void;
  hint?: string;
}) {
  return (
    <Field label={props.label} hint={props.hint}>
      {(control) => (
        <select
          {...control}
          value={props.value}
          onChange={(event) => {
            const found = props.options.find(({ value }) => value === event.currentTarget.value);
            if (found) props.onChoose(found.value);
          }}
        >
          {props.options.map(({ value, label, isGiven }) => (
            <option key={value} value={value} dir={isGiven ? "auto" : undefined}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField(props: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  hint?: string;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class={formStyles.field}>
      <div>
        <label class={formStyles.choice}>
          <input
            type="checkbox"
            checked={props.checked}
            disabled={props.disabled}
            aria-describedby={props.hint === undefined ? undefined : id}
            onChange={(event) => props.onChange(event.currentTarget.checked)}
          />
          <span>{props.label}</span>
        </label>
      </div>
      {props.hint !== undefined && (
        <p class={formStyles.says} id={id}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

/** Something that is done once at a time, and may be declined. */
export interface Action<Given extends unknown[]> {
  run: (...given: Given) => Promise<void>;
  isBusy: boolean;
  error: unknown;
}

/** Its result is kept nowhere: some results are shown once. */
export function useAction<Given extends unknown[]>(work: (...given: Given) => Promise<void>): Action<Given> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const busy = useRef(false);
  const run = async (...given: Given): Promise<void> => {
    if (busy.current) return;
    busy.current = true;
    setBusy(true);
    setError(null);
    try {
      await work(...given);
    } catch (found) {
      setError(found);
    } finally {
      busy.current = false;
      setBusy(false);
    }
  };
  return { run, isBusy, error };
}

/** A refusal, in the server's own sentence. */
export function Problem({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  const passing = error instanceof ParleyError && error.isPassing;
  const says = error instanceof Error ? error.message : String(error);
  return (
    <p class={styles.alarm} role="alert">
      {passing ? text.unreachableNow : <ServerSays words={says} />}
    </p>
  );
}

/** A button that does something at once. */
export function ActionButton(props: { action: Action<[]>; label: string; kind?: "primary" | "alarm" | "quiet" }) {
  return (
    <>
      <button
        type="button"
        class={props.kind}
        aria-disabled={props.action.isBusy}
        onClick={() => void props.action.run()}
      >
        {props.label}
      </button>
      <Problem error={props.action.error} />
    </>
  );
}

/** A button whose deed is confirmed in a dialog that says what follows from it. */
export function ConfirmButton(props: {
  label: string;
  title: string;
  hint: string;
  confirm: string;
  action: Action<[]>;
}) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="alarm" onClick={() => setOpen(true)}>
        {props.label}
      </button>
      <Dialog title={props.title} open={open} onClose={() => setOpen(false)}>
        <p>{props.hint}</p>
        <Problem error={props.action.error} />
        <div class={styles.actions}>
          <button
            type="button"
            class="alarm"
            aria-disabled={props.action.isBusy}
            onClick={() => void props.action.run()}
          >
            {props.confirm}
          </button>
          <button type="button" class="quiet" onClick={() => setOpen(false)}>
            {text.cancel}
          </button>
        </div>
      </Dialog>
    </>
  );
}

/** Runs `look` every so often while `isOn`, until the page goes. */
export function useEvery(ms: number, isOn: boolean, look: () => void): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms, isOn]);
}

/** An empty list, with what would fill it. */
export function Empty({ title, hint }: { title: string; hint: string }) {
  return <Notice level={2} title={title} hint={hint} />;
}
