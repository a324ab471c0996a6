import type { RefObject } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { AskDraft } from "../draft.ts";
import styles from "../ask.module.css";
import { argumentsIn, type EditForm, editFormOf, filledInForm } from "./edit-form.ts";
import { SchemaForm } from "./schema-form.tsx";
import type { Filled, Problem } from "./schema.ts";
import { text } from "../text.ts";
import type { WholeAsk } from "../wire.ts";

interface Editor {
  ask: WholeAsk;
  draft: AskDraft;
  problems: readonly Problem[];
  onChange: (part: AskDraft) => void;
  element: RefObject<HTMLDetailsElement | null>;
}

type Content = Readonly<Record<string, Filled>>;

/** The arguments to be changed: in a form where their schema makes one, else as JSON. */
export function EditFields({ ask, draft, problems, onChange, element }: Editor) {
  const proposed = ask.kwargs ?? "{}";
  const form = useMemo(() => editFormOf(ask.kwargs_schema, proposed), [ask.id]);
  const [prefersJson, preferJson] = useState(false);
  const written = draft.kwargs ?? proposed;
  const filled = form && !prefersJson ? contentOf(form, draft) : null;
  const swap = (): void => {
    // A value that does not fit was never an argument.
    if (form && filled) onChange({ filled: undefined, kwargs: argumentsIn(form, filled).kwargs ?? undefined });
    preferJson(filled !== null);
  };
  return (
    <>
      <p class="muted small" id="edit-lead">
        {text.editLead}
      </p>
      {form && filled ? (
        <Fields form={form} filled={filled} problems={problems} onChange={onChange} />
      ) : (
        <Json proposed={proposed} written={written} problems={problems} onChange={onChange} />
      )}
      {form && (filled !== null || filledInForm(form, written) !== null) && (
        <button type="button" class={`quiet ${styles.swap}`} onClick={swap}>
          {filled ? text.form.asJson : text.form.asForm}
        </button>
      )}
      {draft.kwargs !== undefined && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            onChange({ kwargs: undefined, filled: undefined });
            // The button goes with what was changed.
            element.current?.querySelector("summary")?.focus();
          }}
        >
          {text.restore}
        </button>
      )}
    </>
  );
}

/** Returns the content of the form, as it was typed or as it is written; null where the form cannot hold it. */
function contentOf(form: EditForm, { filled, kwargs }: AskDraft): Content | null {
  if (filled !== undefined) return filled as Content;
  return kwargs === undefined ? form.filled : filledInForm(form, kwargs);
}

function Fields(props: {
  form: EditForm;
  filled: Content;
  problems: readonly Problem[];
  onChange: (part: AskDraft) => void;
}) {
  const { form, filled, problems, onChange } = props;
  const own = argumentsIn(form, filled).problems;
  return (
    <SchemaForm
      field={form.field}
      value={filled}
      problems={own.length > 0 ? own : problems}
      onChange={(value) => {
        const content = value as Content;
        const { kwargs, problems: wrong } = argumentsIn(form, content);
        // Nothing is approved while a field does not fit: no text is no arguments.
        const next = wrong.length > 0 ? "" : (kwargs ?? undefined);
        onChange({ filled: next === undefined ? undefined : content, kwargs: next });
      }}
    />
  );
}

/** They are sent as text, so that every digit stays. */
function Json(props: {
  proposed: string;
  written: string;
  problems: readonly Problem[];
  onChange: (part: AskDraft) => void;
}) {
  const { proposed, written, problems, onChange } = props;
  return (
    <>
      <label for="kwargs">{text.editAsJson}</label>
      <textarea
        id="kwargs"
        dir="ltr"
        class={styles.code}
        rows={Math.min(20, written.split("\n").length + 1)}
        spellcheck={false}
        autoComplete="off"
        value={written}
        aria-invalid={problems.length > 0}
        aria-describedby={problems.length > 0 ? "edit-lead edit-wrong" : "edit-lead"}
        onInput={({ currentTarget: { value } }) =>
          onChange({ filled: undefined, kwargs: value === proposed ? undefined : value })
        }
      />
      {problems.length > 0 && (
        <ul id="edit-wrong" class={styles.wrong}>
          {problems.map(({ path, message }) => (
            <li key={path + message}>
              {path} {message}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
