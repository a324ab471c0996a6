import type { FeedItem } from "@parley/sdk/wire";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Link } from "wouter";
import { readDraft } from "../drafts.ts";
import { Kept, Loading, Notice } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { codeOf, useQuestion, useWritten } from "../queries.ts";
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
  const { known, error } = question;
  const again = (): void => void question.refetch();
  useTitle(known?.prompt ?? text.feed.title);

  const nextStep = (
    <Link href={next ? `/q/${next.question_id}` : "/"} class="button primary">
      {next ? text.question.next : text.question.toAll}
    </Link>
  );
  const [state, view] = ((): [string, ComponentChildren] => {
    if (written?.state === "waiting") return ["waiting", <Waiting written={written} nextStep={nextStep} />];
    if (written?.state === "refused") return ["refused", <Refused written={written} nextStep={nextStep} />];
    if (written || known?.can_answer === false) {
      return ["answered", <Result id={id} question={known} written={written} next={next} />];
    }
    if (codeOf(error) === "QUESTION_CLOSED" || codeOf(error) === "QUESTION_NOT_FOUND") {
      return ["gone", <Gone id={id} error={error} nextStep={nextStep} />];
    }
    if (known) return ["open", <AnswerForm question={known} next={next} onTimeUp={again} />];
    if (error) return ["trouble", <Trouble title={text.question.failed} error={error} onTryAgain={again} />];
    return ["loading", <Loading rows={3} />];
  })();

  return <Frame state={state}>{view}</Frame>;
}

/** When one state follows another, the page begins at its beginning again, for the eye and for the keyboard. */
function Frame({ state, children }: { state: string; children: ComponentChildren }) {
  const frame = useRef<HTMLElement>(null);
  const before = useRef(state);
  useLayoutEffect(() => {
    const isNew = before.current !== state && before.current !== "loading";
    before.current = state;
    if (!isNew) return;
    frame.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [state]);
  return (
    <article ref={frame} class={styles.frame} tabIndex={-1} data-focus>
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
