import type { FeedItem } from "@parley/sdk/wire";
import type { ComponentChildren } from "preact";
import { Link } from "wouter";
import { readDraft } from "../drafts.ts";
import { Kept, Loading, Notice } from "../parts/notice.tsx";
import { codeOf, isUnreachable, useQuestion, useWritten } from "../queries.ts";
import { text } from "../text.ts";
import { useTitle } from "../title.ts";
import { AnswerForm } from "./answer-form.tsx";
import styles from "./question.module.css";
import { Result } from "./result.tsx";
import { Refused, Waiting } from "./unsent.tsx";

/** One question, in whatever state it is for the person in front of it. */
export function Question({ id, next }: { id: string; next: FeedItem | undefined }) {
  const written = useWritten().find((one) => one.answer.question_id === id);
  const question = useQuestion(id);
  const { known: data, error } = question;
  useTitle(data?.prompt ?? text.feed.title);

  const nextStep = (
    <Link href={next ? `/q/${next.question_id}` : "/"} class="button primary">
      {next ? text.question.next : text.question.toAll}
    </Link>
  );
  const inFrame = (children: ComponentChildren) => <Frame>{children}</Frame>;

  if (written?.state === "sent") return inFrame(<Result id={id} question={data} written={written} next={next} />);
  if (written?.state === "waiting") return inFrame(<Waiting written={written} nextStep={nextStep} />);
  if (written?.state === "refused") return inFrame(<Refused written={written} nextStep={nextStep} />);

  if (codeOf(error) === "QUESTION_CLOSED" || codeOf(error) === "QUESTION_NOT_FOUND") {
    return inFrame(<Gone id={id} error={error} nextStep={nextStep} />);
  }
  if (data && !data.can_answer) return inFrame(<Result id={id} question={data} written={undefined} next={next} />);
  if (data) return inFrame(<AnswerForm question={data} next={next} onTimeUp={() => void question.refetch()} />);
  if (!error) return inFrame(<Loading rows={3} />);
  return inFrame(
    <Notice
      title={isUnreachable(error) ? text.feed.offline : text.question.failed}
      hint={isUnreachable(error) ? text.feed.offlineHint : (error as Error).message}
    >
      <button type="button" class="primary" onClick={() => void question.refetch()}>
        {text.tryAgain}
      </button>
    </Notice>,
  );
}

function Frame({ children }: { children: ComponentChildren }) {
  return (
    <article class={styles.frame} tabIndex={-1} data-focus>
      {children}
    </article>
  );
}

/** It closed or vanished before an answer was sent; what was begun is still shown. */
function Gone({ id, error, nextStep }: { id: string; error: unknown; nextStep: ComponentChildren }) {
  const draft = readDraft(id).answer;
  const expired = (error as { details?: { status?: string } }).details?.status === "EXPIRED";
  const notice =
    codeOf(error) === "QUESTION_CLOSED"
      ? {
          title: text.question.gone,
          hint: expired ? text.question.goneExpired : text.question.goneFull,
        }
      : { title: text.question.unknown, hint: text.question.unknownHint };
  return (
    <>
      <Notice {...notice}>{nextStep}</Notice>
      {draft && <Kept label={text.question.kept} words={draft} />}
    </>
  );
}
