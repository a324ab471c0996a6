import type { ComponentChildren } from "preact";
import { type Field, type Filled, filledWith, type Member, type Problem, seen } from "./schema.ts";
import styles from "./schema-form.module.css";
import { text } from "../text.ts";

interface Slot {
  /** JSON pointer; also names the element. */
  path: string;
  label: string;
  required: boolean;
  value: Filled;
  problems: readonly Problem[];
  onChange: (value: Filled) => void;
}

/** A form made from a schema: one field for each value, nested as the value is. */
export function SchemaForm(props: {
  field: Field;
  value: Filled;
  problems: readonly Problem[];
  onChange: (value: Filled) => void;
}) {
  const { field, ...rest } = props;
  const slot: Slot = { ...rest, path: "", label: field.title ?? text.form.value, required: true };
  if (field.kind !== "object") return <FieldOf field={field} slot={slot} />;
  return (
    <div class={styles.form}>
      <Members members={field.members} slot={slot} />
      <Wrong id="wrong" path="" problems={props.problems} />
    </div>
  );
}

const idOf = (path: string): string => `value${path}`;

function FieldOf({ field, slot }: { field: Field; slot: Slot }) {
  switch (field.kind) {
    case "boolean":
      return <Pick field={field} slot={slot} options={[text.form.yes, text.form.no]} values={[true, false]} />;
    case "choice": {
      const values = field.options.map((_, at) => at);
      const labels = field.options.map(({ label }) => label);
      return values.length <= 6 ? (
        <Pick field={field} slot={slot} options={labels} values={values} />
      ) : (
        <Select field={field} slot={slot} options={labels} />
      );
    }
    case "several":
      return <Several field={field} slot={slot} />;
    case "object":
      return (
        <Group field={field} slot={slot}>
          <Members members={field.members} slot={slot} />
        </Group>
      );
    case "list":
      return <List field={field} slot={slot} />;
    case "text":
      return <Typed field={field} slot={slot} rows={field.long ? 2 : 0} />;
    case "number":
      return <Typed field={field} slot={slot} rows={0} hint={text.form.between(field.least, field.most)} numeric />;
    case "json":
      return <Typed field={field} slot={slot} rows={4} hint={text.form.json} code />;
  }
}

function Members({ members, slot }: { members: readonly Member[]; slot: Slot }) {
  const filled = slot.value as { readonly [name: string]: Filled };
  return (
    <>
      {members.map(({ name, required, field }) => (
        <FieldOf
          key={name}
          field={field}
          slot={{
            path: `${slot.path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
            label: field.title ?? seen(name),
            required,
            value: filled[name] ?? filledWith(field),
            problems: slot.problems,
            onChange: (value) => slot.onChange({ ...filled, [name]: value }),
          }}
        />
      ))}
    </>
  );
}

/** Returns the texts around a field: its description, and its problem. */
function describe(
  field: Field,
  slot: Slot,
  hint = "",
): { ids: string | undefined; wrong: Problem | undefined; lead: ComponentChildren } {
  const wrong = slot.problems.find(({ path }) => path === slot.path);
  const says = [field.description, hint].filter((one) => one !== undefined && one !== "").join(" · ");
  const id = idOf(slot.path);
  const ids = [says && `${id}-says`, wrong && `${id}-wrong`].filter(Boolean).join(" ");
  return {
    ids: ids === "" ? undefined : ids,
    wrong,
    lead: says && (
      <p class={styles.says} id={`${id}-says`} dir="auto">
        {says}
      </p>
    ),
  };
}

function Wrong({ id, path, problems }: { id: string; path: string; problems: readonly Problem[] }) {
  const found = problems.filter((one) => one.path === path);
  if (found.length === 0) return null;
  return (
    <p class={styles.wrong} id={id}>
      {found.map(({ message }) => message).join(" ")}
    </p>
  );
}

function Label({ slot }: { slot: Slot }) {
  return (
    <>
      <bdi>{slot.label}</bdi>
      {!slot.required && <span class={styles.optional}> {text.form.optional}</span>}
    </>
  );
}

function Typed(props: { field: Field; slot: Slot; rows: number; hint?: string; numeric?: boolean; code?: boolean }) {
  const { field, slot, rows } = props;
  const id = idOf(slot.path);
  const { ids, wrong, lead } = describe(field, slot, props.hint);
  const shared = {
    id,
    value: String(slot.value ?? ""),
    "aria-describedby": ids,
    "aria-invalid": wrong !== undefined,
    autoComplete: "off",
    dir: props.code ? "ltr" : "auto",
    onInput: (event: { currentTarget: { value: string } }) => slot.onChange(event.currentTarget.value),
  } as const;
  return (
    <div class={styles.field}>
      <label for={id}>
        <Label slot={slot} />
      </label>
      {lead}
      {rows === 0 ? (
        <input type="text" inputMode={props.numeric ? "decimal" : "text"} {...shared} />
      ) : (
        <textarea rows={rows} spellcheck={!props.code} class={props.code ? styles.code : undefined} {...shared} />
      )}
      <Wrong id={`${id}-wrong`} path={slot.path} problems={slot.problems} />
    </div>
  );
}

function Group(props: { field: Field; slot: Slot; children: ComponentChildren; plain?: boolean }) {
  const { field, slot } = props;
  const { ids, lead } = describe(field, slot);
  return (
    <fieldset
      class={props.plain ? styles.field : styles.group}
      aria-describedby={ids}
      id={idOf(slot.path)}
      tabIndex={-1}
    >
      <legend>
        <Label slot={slot} />
      </legend>
      {lead}
      {props.children}
      <Wrong id={`${idOf(slot.path)}-wrong`} path={slot.path} problems={slot.problems} />
    </fieldset>
  );
}

function Pick(props: { field: Field; slot: Slot; options: readonly string[]; values: readonly Filled[] }) {
  const { field, slot, options, values } = props;
  const mayBeEmpty = !slot.required || field.nullable;
  return (
    <Group field={field} slot={slot} plain>
      <div class={styles.choices}>
        {options.map((option, at) => (
          <label key={at} class={styles.choice}>
            <input
              type="radio"
              name={idOf(slot.path)}
              checked={slot.value === values[at]}
              onChange={() => slot.onChange(values[at] ?? null)}
            />
            <span dir="auto">{option}</span>
          </label>
        ))}
        {mayBeEmpty && (
          <label class={styles.choice}>
            <input
              type="radio"
              name={idOf(slot.path)}
              checked={slot.value === null}
              onChange={() => slot.onChange(null)}
            />
            <span>{text.form.nothing}</span>
          </label>
        )}
      </div>
    </Group>
  );
}

function Select({ field, slot, options }: { field: Field; slot: Slot; options: readonly string[] }) {
  const id = idOf(slot.path);
  const { ids, wrong, lead } = describe(field, slot);
  return (
    <div class={styles.field}>
      <label for={id}>
        <Label slot={slot} />
      </label>
      {lead}
      <select
        id={id}
        value={slot.value === null ? "" : String(slot.value)}
        aria-describedby={ids}
        aria-invalid={wrong !== undefined}
        onChange={({ currentTarget: { value } }) => slot.onChange(value === "" ? null : Number(value))}
      >
        <option value="">{slot.required ? text.form.none : text.form.nothing}</option>
        {options.map((option, at) => (
          <option key={at} value={at}>
            {option}
          </option>
        ))}
      </select>
      <Wrong id={`${id}-wrong`} path={slot.path} problems={slot.problems} />
    </div>
  );
}

function Several({ field, slot }: { field: Field & { kind: "several" }; slot: Slot }) {
  const chosen = slot.value as readonly number[];
  return (
    <Group field={field} slot={slot} plain>
      <div class={styles.choices}>
        {field.options.map(({ label }, at) => (
          <label key={at} class={styles.choice}>
            <input
              type="checkbox"
              checked={chosen.includes(at)}
              onChange={({ currentTarget: { checked } }) =>
                slot.onChange(checked ? [...chosen, at].sort((a, b) => a - b) : chosen.filter((one) => one !== at))
              }
            />
            <span dir="auto">{label}</span>
          </label>
        ))}
      </div>
    </Group>
  );
}

function List({ field, slot }: { field: Field & { kind: "list" }; slot: Slot }) {
  const items = slot.value as readonly Filled[];
  return (
    <Group field={field} slot={slot}>
      {items.map((item, at) => (
        <div key={at} class={styles.item}>
          <FieldOf
            field={field.item}
            slot={{
              path: `${slot.path}/${at}`,
              label: text.form.item(slot.label, at + 1),
              required: true,
              value: item,
              problems: slot.problems,
              onChange: (value) => slot.onChange(items.map((one, index) => (index === at ? value : one))),
            }}
          />
          <button
            type="button"
            class="quiet"
            onClick={({ currentTarget }) => {
              // The last item's button goes with it.
              if (at === items.length - 1) currentTarget.closest("fieldset")?.focus();
              slot.onChange(items.filter((_, index) => index !== at));
            }}
          >
            {text.form.remove(slot.label, at + 1)}
          </button>
        </div>
      ))}
      <div>
        <button type="button" onClick={() => slot.onChange([...items, filledWith(field.item)])}>
          {text.form.add(slot.label)}
        </button>
      </div>
    </Group>
  );
}
