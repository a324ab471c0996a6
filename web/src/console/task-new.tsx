import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter";
import { newKey } from "@parley/sdk/idempotency-key";
import { recall, remember } from "../device.ts";
import { Loading } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import styles from "./console.module.css";
import { Detail, Problem, SelectField, TextField, useAction } from "./parts.tsx";
import { refreshTasks, submitTask, taskHref, useBoard } from "./task-api.ts";
import { SandboxNotice } from "./task-parts.tsx";
import { text } from "./task-text.ts";
import type { Board } from "./task-wire.ts";

const BASE = "/console/assignments";
const DRAFT = "draft-task";
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

/**
 * What was begun is kept on this device until it is sent. The other page is loaded anew: it alone may frame something,
 * and that is settled when a page is loaded.
 */
function Form({ board }: { board: Board }) {
  const [draft, setDraft] = useState(() => readDraft(board));
  const [, go] = useLocation();
  const repo = board.repos.find(({ name }) => name === draft.repo);
  const change = (more: Partial<Draft>): void => {
    const next = { ...draft, ...more };
    remember(DRAFT, JSON.stringify(next));
    setDraft(next);
  };
  const submit = useAction(async () => {
    const { id, prompt, agent } = draft;
    const dependencies = draft.dependencies
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    await submitTask(draft.repo, { id, prompt, dependencies, ...(agent !== "" && { agent }) });
    remember(DRAFT, null);
    await refreshTasks();
    go(taskHref(draft.repo, id));
  });
  const agents = [
    { value: "", label: text.form.usual(repo?.agent ?? "") },
    ...board.agents.map(({ name, ready, why }) => ({
      value: name,
      label: ready ? name : text.form.notReady(name, why),
    })),
  ];
  return (
    <form
      class={styles.section}
      aria-busy={submit.isBusy}
      onSubmit={(event) => {
        event.preventDefault();
        void submit.run();
      }}
    >
      {board.repos.length > 1 && (
        <SelectField
          label={text.repo}
          value={draft.repo}
          options={board.repos.map(({ name }) => ({ value: name, label: name }))}
          onChoose={(name) => change({ repo: name })}
        />
      )}
      <TextField
        label={text.form.prompt}
        hint={text.form.promptHint}
        rows={8}
        required
        value={draft.prompt}
        onInput={(prompt) => change({ prompt })}
      />
      <TextField
        label={text.form.dependencies}
        hint={text.form.dependenciesHint}
        value={draft.dependencies}
        onInput={(dependencies) => change({ dependencies })}
      />
      <SelectField
        label={text.form.agent}
        value={draft.agent}
        options={agents}
        onChoose={(agent) => change({ agent })}
      />
      <TextField
        label={text.form.id}
        hint={text.form.idHint}
        required
        value={draft.id}
        onInput={(id) => change({ id })}
      />
      <Problem error={submit.error} />
      <div class={styles.actions}>
        <button type="submit" class="primary" aria-disabled={submit.isBusy}>
          {text.form.submit}
        </button>
        <a href="/embed/prompt-pad.html" class="button">
          {text.form.pad}
        </a>
        <Link href={BASE} class="button quiet">
          {text.form.cancel}
        </Link>
      </div>
    </form>
  );
}

function readDraft(board: Board): Draft {
  const usual = board.repos.find(({ isDefault }) => isDefault) ?? board.repos[0];
  const empty = {
    repo: usual?.name ?? "",
    id: newKey().slice(0, NEW_ID_LENGTH),
    prompt: "",
    dependencies: "",
    agent: "",
  };
  try {
    const kept = { ...empty, ...(JSON.parse(recall(DRAFT) ?? "{}") as Partial<Draft>) };
    return board.repos.some(({ name }) => name === kept.repo) ? kept : { ...kept, repo: empty.repo };
  } catch {
    return empty;
  }
}
