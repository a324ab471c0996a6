import type { AssignmentReport } from "@parley/sdk/tasks";
import { useState } from "preact/hooks";
import { Link, useLocation } from "../../router.tsx";
import { newKey } from "@parley/sdk/idempotency-key";
import { draftsOfAuthor } from "../../author.ts";
import { recall, remember } from "../../device.ts";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import styles from "../console.module.css";
import { Detail, Problem, SelectField, TextField, useAction } from "../parts.tsx";
import { refreshTasks, submitTask, taskHref, useBoard } from "./api.ts";
import { SandboxNotice } from "./parts.tsx";
import { text } from "./text.ts";

const BASE = "/console/assignments";
const draftName = (): string => `${draftsOfAuthor()}task`;
const NEW_ID_LENGTH = 8;

interface Draft {
  repo: string;
  id: string;
  prompt: string;
  dependencies: string;
  agent: string;
}

export function NewTaskPage() {
  const { data, error, refetch } = useBoard();
  if (error && !data) return <Trouble title={text.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  return (
    <Detail title={text.new}>
      <SandboxNotice says={data.sandboxNotice} />
      <Form board={data} />
    </Detail>
  );
}

/** Puts a task in line, and shows its page then. */
function Form({ board }: { board: AssignmentReport }) {
  const [draft, change] = useDraft(board);
  const [, go] = useLocation();
  const submit = useAction(async () => {
    const { repo, id, prompt, agent } = draft;
    const dependencies = namesIn(draft.dependencies);
    await submitTask(repo, { id, prompt, dependencies, ...(agent !== "" && { agent }) });
    remember(draftName(), null);
    await refreshTasks();
    go(taskHref(repo, id));
  });
  return (
    <form
      class={styles.section}
      aria-busy={submit.isBusy}
      onSubmit={(event) => {
        event.preventDefault();
        void submit.run();
      }}
    >
      <Fields board={board} draft={draft} onChange={change} />
      <Problem error={submit.error} />
      <Actions isBusy={submit.isBusy} />
    </form>
  );
}

const namesIn = (list: string): string[] =>
  list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** The fields of a new task. */
function Fields(props: { board: AssignmentReport; draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  const { board, draft, onChange } = props;
  return (
    <>
      {board.repos.length > 1 && (
        <SelectField
          label={text.repo}
          value={draft.repo}
          options={board.repos.map(({ name }) => ({ value: name, label: name, isGiven: true }))}
          onChoose={(repo) => onChange({ repo })}
        />
      )}
      <TextField
        label={text.form.prompt}
        hint={text.form.promptHint}
        rows={8}
        required
        value={draft.prompt}
        onInput={(prompt) => onChange({ prompt })}
      />
      <TextField
        label={text.form.dependencies}
        hint={text.form.dependenciesHint}
        value={draft.dependencies}
        onInput={(dependencies) => onChange({ dependencies })}
      />
      <SelectField
        label={text.form.agent}
        value={draft.agent}
        options={agentsFor(draft.repo, board)}
        onChoose={(agent) => onChange({ agent })}
      />
      <TextField
        label={text.form.id}
        hint={text.form.idHint}
        required
        value={draft.id}
        onInput={(id) => onChange({ id })}
      />
    </>
  );
}

/** Returns the agents that can take a task: the repository's usual agent, or one by name, which may not be ready. */
function agentsFor(repo: string, board: AssignmentReport): { value: string; label: string; isGiven?: boolean }[] {
  const usual = board.repos.find(({ name }) => name === repo)?.agent ?? "";
  return [
    { value: "", label: text.form.usual(usual) },
    ...board.agents.map(({ name, ready, why }) => ({
      value: name,
      label: ready ? name : text.form.notReady(name, why),
      isGiven: true,
    })),
  ];
}

/** Prompt Pad's page is loaded anew: it alone may frame something, and that is settled when a page is loaded. */
function Actions({ isBusy }: { isBusy: boolean }) {
  return (
    <div class={styles.actions}>
      <button type="submit" class="primary" aria-disabled={isBusy}>
        {text.form.submit}
      </button>
      <a href="/embed/prompt-pad.html" class="button">
        {text.form.pad}
      </a>
      <Link href={BASE} class="button quiet">
        {text.form.cancel}
      </Link>
    </div>
  );
}

/** Returns the draft of a task; it is kept on this device until it is sent. */
function useDraft(board: AssignmentReport): [Draft, (part: Partial<Draft>) => void] {
  const [draft, setDraft] = useState(() => readDraft(board));
  const change = (part: Partial<Draft>): void => {
    const next = { ...draft, ...part };
    remember(draftName(), JSON.stringify(next));
    setDraft(next);
  };
  return [draft, change];
}

function readDraft(board: AssignmentReport): Draft {
  const usual = board.repos.find(({ isDefault }) => isDefault) ?? board.repos[0];
  const empty = {
    repo: usual?.name ?? "",
    id: newKey().slice(0, NEW_ID_LENGTH),
    prompt: "",
    dependencies: "",
    agent: "",
  };
  try {
    const kept = { ...empty, ...(JSON.parse(recall(draftName()) ?? "{}") as Partial<Draft>) };
    return board.repos.some(({ name }) => name === kept.repo) ? kept : { ...kept, repo: empty.repo };
  } catch {
    return empty;
  }
}
