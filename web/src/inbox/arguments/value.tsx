import { useMemo, useRef, useState } from "preact/hooks";
import { announce } from "../../parts/announcer.tsx";
import styles from "../ask.module.css";
import { useDecide } from "../decide.ts";
import { type AskDraft, useAskDraft } from "../draft.ts";
import { Facts } from "../parts.tsx";
import { NextTime, Send, Written } from "../reply.tsx";
import { SchemaForm } from "./schema-form.tsx";
import { type Field, fieldOf, type Filled, filledFrom, filledWith, type Problem, valueOf } from "./schema.ts";
import { text } from "../text.ts";
import type { WholeAsk } from "../wire.ts";

const JSON_FIELD: Field = {
  kind: "json",
  title: undefined,
  description: undefined,
  nullable: false,
  initial: undefined,
};

/** Whether the value is written as JSON: because somebody prefers it, or because no form is drawn for it. */
const isJson = (field: Field, draft: AskDraft): boolean => draft.json !== undefined || field.kind === "json";

const filledIn = (field: Field, draft: AskDraft): Filled => draft.filled ?? filledWith(field);

/**
 * A value to be filled in: a form as the schema says, JSON for people who prefer it, plain words where there is no
 * schema.
 */
export function Value({ ask }: { ask: WholeAsk }) {
  const { schema } = ask;
  const [draft, change] = useAskDraft(ask.id);
  const { send, sending, refused } = useDecide(ask.id);
  const field = useMemo(() => fieldOf(schema ?? true), [ask.id]);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const form = useRef<HTMLFormElement>(null);
  const [again, setAgain] = useState(false);
  const more = again ? { same_next_time: again } : {};

  const submit = (): void => {
    if (schema === null)
      return draft.text?.trim() ? void send({ text: draft.text, ...more }) : announce(text.answerFirst);
    const read = isJson(field, draft) ? valueOf(JSON_FIELD, draft.json ?? "") : valueOf(field, filledIn(field, draft));
    setProblems(read.problems);
    if (read.problems.length === 0) return void send({ value: read.value, ...more });
    announce(text.form.check(read.problems.length));
    focusOn(form.current, read.problems[0]?.path ?? "");
  };
  const toJson = (): void => {
    setProblems([]);
    change({ json: JSON.stringify(valueOf(field, filledIn(field, draft)).value ?? {}, null, 2) });
  };
  const toForm = (): void => {
    setProblems([]);
    change({ json: undefined, filled: filledFrom(field, draft.json ?? "") ?? draft.filled });
  };

  return (
    <form
      ref={form}
      class={styles.form}
      noValidate
      aria-busy={sending}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {schema === null ? (
        <Written
          label={text.yourAnswer}
          value={draft.text ?? ""}
          onChange={(words) => change({ text: words })}
          onSend={submit}
        />
      ) : (
        <BySchema
          field={field}
          draft={draft}
          problems={problems.length > 0 ? problems : (refused?.problems ?? [])}
          onChange={change}
          onToJson={toJson}
          onToForm={toForm}
        />
      )}
      <Facts ask={ask} />
      <NextTime ask={ask} on={again} onChange={setAgain} />
      <Send id={ask.id} refused={refused?.says} sending={sending} />
    </form>
  );
}

/** The value that a schema asks for, as a form or as JSON, and the way from one to the other. */
function BySchema(props: {
  field: Field;
  draft: AskDraft;
  problems: readonly Problem[];
  onChange: (part: AskDraft) => void;
  onToJson: () => void;
  onToForm: () => void;
}) {
  const { field, draft, problems, onChange } = props;
  const asJson = isJson(field, draft);
  return (
    <>
      {asJson ? (
        <SchemaForm
          field={{ ...JSON_FIELD, title: field.title, description: field.description }}
          value={draft.json ?? ""}
          problems={problems.map((one) => ({ path: "", message: `${one.path} ${one.message}`.trim() }))}
          onChange={(json) => onChange({ json: String(json) })}
        />
      ) : (
        <SchemaForm
          field={field}
          value={filledIn(field, draft)}
          problems={problems}
          onChange={(value) => onChange({ filled: value })}
        />
      )}
      {field.kind !== "json" && (
        <div>
          <button
            type="button"
            class={`quiet ${styles.swap}`}
            onClick={() => (asJson ? props.onToForm() : props.onToJson())}
          >
            {asJson ? text.form.asForm : text.form.asJson}
          </button>
        </div>
      )}
    </>
  );
}

/** The first field with a problem, or the first of the group that has one. */
function focusOn(form: HTMLFormElement | null, path: string): void {
  const found = form?.querySelector<HTMLElement>(`[id="${CSS.escape(`value${path}`)}"]`);
  const inner = found?.matches("fieldset") ? found.querySelector<HTMLElement>("input, select, textarea") : found;
  inner?.focus();
}
