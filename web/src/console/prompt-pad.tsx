import type { AssignmentReport, Task } from "@parley/sdk/tasks";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "../router.tsx";
import { newKey } from "@parley/sdk/idempotency-key";
import { draftsOfAuthor } from "../author.ts";
import { recall, remember } from "../device.ts";
import { announce } from "../parts/announcer.tsx";
import { Loading } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { useTitle } from "../title.ts";
import styles from "./console.module.css";
import { type Action, Empty, Problem, SelectField, useAction } from "./parts.tsx";
import { Block } from "./relay/parts.tsx";
import { submitTask, taskHref, useBoard } from "./tasks/api.ts";
import { SandboxNotice } from "./tasks/parts.tsx";
import { text } from "./tasks/text.ts";
import taskStyles from "./tasks/tasks.module.css";

/** Which page may be framed and listened to; the server says so in the page. */
const ORIGIN = document.querySelector<HTMLMetaElement>('meta[name="prompt-pad"]')?.content;
const draftName = (): string => `${draftsOfAuthor()}pad`;
const NEW_ID_LENGTH = 12;

/** The prompt that Prompt Pad edits and hands over; its messages say `setPrompt` and `submitPrompt`. */
interface Prompt {
  id: string;
  text: string;
}

/**
 * Prompt Pad in a frame: a prompt that somebody submits in it becomes a task. The session of this page's viewer carries
 * it, which the framed page can neither read nor use: there is no key that it could take.
 */
export function PromptPadPage() {
  const { data, error, refetch } = useBoard();
  useTitle(text.pad.title);
  if (error && !data) return <Trouble title={text.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  return (
    <section class={taskStyles.page}>
      <h1>{text.pad.title}</h1>
      {data.repos.length === 0 || ORIGIN === undefined ? (
        <Empty title={text.off} hint={text.offHint} />
      ) : (
        <Pad board={data} origin={ORIGIN} />
      )}
    </section>
  );
}

function Pad({ board, origin }: { board: AssignmentReport; origin: string }) {
  const usual = board.repos.find(({ isDefault }) => isDefault) ?? board.repos[0];
  const [repo, setRepo] = useState(usual?.name ?? "");
  const [sent, setSent] = useState<readonly Task[]>([]);
  const [unasked, setUnasked] = useState<Prompt | null>(null);

  const framed = useFramed(origin, (prompt) => {
    // A press within the frame counts as one on this page; without any, somebody has to say so here.
    if (navigator.userActivation.isActive) void send.run(prompt);
    else setUnasked(prompt);
  });
  const send = useSubmission(repo, (task) => {
    setUnasked(null);
    setSent((before) => [task, ...before]);
    announce(text.pad.taken(task.title));
    framed.show(newPrompt());
  });

  return (
    <>
      <p class="muted">{text.pad.lead}</p>
      <SandboxNotice says={board.sandboxNotice} />
      <SelectField
        label={text.pad.repo}
        value={repo}
        options={board.repos.map(({ name }) => ({ value: name, label: name, isGiven: true }))}
        onChoose={setRepo}
      />
      <iframe
        ref={framed.ref}
        class={taskStyles.pad}
        src={`${origin}/#submit=pm`}
        title={text.pad.frame}
        sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox"
        allow="clipboard-write"
        referrerpolicy="no-referrer"
        onLoad={framed.showDraft}
      />
      <Problem error={send.error} />
      {unasked && <Unasked prompt={unasked} onGive={() => void send.run(unasked)} onDrop={() => setUnasked(null)} />}
      {sent.length > 0 && <Sent tasks={sent} />}
    </>
  );
}

/** The framed page. Its text is kept on this device, and `onSubmit` receives each prompt that is submitted in it. */
function useFramed(origin: string, onSubmit: (prompt: Prompt) => void) {
  const frame = useRef<HTMLIFrameElement>(null);
  const draft = useRef<Prompt>(readDraft());
  const show = (prompt: Prompt): void => {
    keep(prompt);
    frame.current?.contentWindow?.postMessage({ type: "setPrompt", prompt }, origin);
  };
  const keep = (prompt: Prompt): void => {
    draft.current = prompt;
    remember(draftName(), prompt.text === "" ? null : JSON.stringify(prompt));
  };

  const latest = useRef({ keep, onSubmit });
  latest.current = { keep, onSubmit };
  useEffect(() => {
    const onMessage = (event: MessageEvent<unknown>): void => {
      if (event.origin !== origin || event.source !== frame.current?.contentWindow) return;
      const message = promptIn(event.data);
      if (!message) return;
      const prompt = { id: draft.current.id, text: message.text };
      latest.current.keep(prompt);
      if (message.type === "submitPrompt" && prompt.text.trim() !== "") latest.current.onSubmit(prompt);
    };
    addEventListener("message", onMessage);
    return () => removeEventListener("message", onMessage);
  }, [origin]);

  return { ref: frame, show, showDraft: () => show(draft.current) };
}

/** Gives a prompt to the repository as a task; `onTaken` receives the task once it is in line. */
function useSubmission(repo: string, onTaken: (task: Task) => void): Action<[Prompt]> {
  const attempt = useRef<Prompt & { key: string }>(undefined);
  return useAction(async (prompt: Prompt) => {
    // A prompt that is submitted again after a lost reply must not begin a second task.
    if (attempt.current?.text !== prompt.text) attempt.current = { ...prompt, key: newKey() };
    const { id, key } = attempt.current;
    const task = await submitTask(repo, { id, prompt: prompt.text, dependencies: [] }, key);
    attempt.current = undefined;
    onTaken({ ...task, repo });
  });
}

/**
 * A prompt that the framed page submitted without anybody's press. It becomes a task only once somebody confirms it
 * here.
 */
function Unasked({ prompt, onGive, onDrop }: { prompt: Prompt; onGive: () => void; onDrop: () => void }) {
  return (
    <section class={styles.section}>
      <p role="alert">{text.pad.asks}</p>
      <Block label={text.page.prompt} words={prompt.text} dir="auto" />
      <div class={styles.actions}>
        <button type="button" class="primary" onClick={onGive}>
          {text.pad.give}
        </button>
        <button type="button" class="quiet" onClick={onDrop}>
          {text.pad.drop}
        </button>
      </div>
    </section>
  );
}

/** The tasks that were given from this page, the newest first. */
function Sent({ tasks }: { tasks: readonly Task[] }) {
  return (
    <section class={styles.section}>
      <h2>{text.pad.sent}</h2>
      <ul class={taskStyles.cards}>
        {tasks.map((task) => (
          <li key={`${task.repo}/${task.id}`} class={taskStyles.card}>
            <Link href={taskHref(task.repo, task.id)} class={taskStyles.open}>
              <span class={taskStyles.name} dir="auto">
                {task.title}
              </span>
              <span class={taskStyles.facts}>
                <span dir="auto">{task.repo}</span>
                <span dir="auto">{task.id}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function promptIn(data: unknown): { type: "setPrompt" | "submitPrompt"; text: string } | null {
  if (typeof data !== "object" || data === null || !("type" in data) || !("prompt" in data)) return null;
  const { type, prompt } = data;
  if (type !== "setPrompt" && type !== "submitPrompt") return null;
  if (typeof prompt !== "object" || prompt === null || !("text" in prompt) || typeof prompt.text !== "string")
    return null;
  return { type, text: prompt.text };
}

const newPrompt = (): Prompt => ({ id: newKey().slice(0, NEW_ID_LENGTH), text: "" });

function readDraft(): Prompt {
  try {
    return { ...newPrompt(), ...(JSON.parse(recall(draftName()) ?? "{}") as Partial<Prompt>) };
  } catch {
    return newPrompt();
  }
}
