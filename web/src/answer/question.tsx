import type { FeedItem } from "@parley/sdk/wire";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { readDraft } from "../drafts.ts";
import { leadOf } from "../parts/code-blocks.ts";
import { later } from "../parts/later.tsx";
import { Kept, Loading, Notice } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { codeOf, useQuestion, useWritten } from "../queries.ts";
import { text } from "../text.ts";
import { useTitle } from "../title.ts";
import { AnswerForm } from "./answer-form.tsx";
import { NextStep } from "./next-step.tsx";
import styles from "./question.module.css";

const Result = later(async () => (await import("./result.tsx")).Result);
const Waiting = later(async () => (await import("./unsent.tsx")).Waiting, undefined, OutOfReach);
const Refused = later(async () => (await import("./unsent.tsx")).Refused);

/** The views that may follow an answer. */
const VIEWS = [Result, Waiting, Refused];

/** An answer that is kept, where not even the view of it can be loaded. */
function OutOfReach({ next }: { next: FeedItem | undefined }) {
  return (
    <>
      <Notice title={text.trouble.offline} hint={text.trouble.offlineHint} />
      <NextStep next={next} />
    </>
  );
}

/** One question, in whatever state it is for the person in front of it. */
export function Question({ id, next }: { id: string; next: FeedItem | undefined }) {
  const written = useWritten().find((one) => one.answer.question_id === id);
  const question = useQuestion(id);
  const { known, error } = question;
  const again = (): void => void question.refetch();
  const [views, setViews] = useState<"wanted" | "loading" | "there">("wanted");
  /** Loads the views while somebody is still answering. */
  const begin = (): void => {
    if (views !== "wanted") return;
    setViews("loading");
    void Promise.all(VIEWS.map((one) => one.load())).then(() => setViews("there"));
  };
  useTitle(known ? leadOf(known.prompt) : text.feed.title);

  const form = known && <AnswerForm question={known} next={next} onBegin={begin} onTimeUp={again} />;
  const [state, view] = ((): [string, ComponentChildren] => {
    // The form stays until the view after it can be drawn.
    if (form && views === "loading") return ["open", form];
    if (written?.state === "waiting") return ["waiting", <Waiting written={written} next={next} />];
    if (written?.state === "refused") return ["refused", <Refused written={written} next={next} />];
    if (written || known?.can_answer === false) {
      return ["answered", <Result id={id} question={known} written={written} next={next} />];
    }
    if (codeOf(error) === "QUESTION_CLOSED" || codeOf(error) === "QUESTION_NOT_FOUND") {
      return ["gone", <Gone id={id} error={error} next={next} />];
    }
    if (form) return ["open", form];
    if (error) return ["trouble", <Trouble title={text.question.failed} error={error} onTryAgain={again} />];
    return ["loading", <Loading rows={3} />];
  })();

  return <Frame state={state}>{view}</Frame>;
}

/**
 * When one state follows another, the page begins at its beginning again, for the eye and for the keyboard. The result
 * unfolds in the place of the form, so the page stays where it is.
 */
function Frame({ state, children }: { state: string; children: ComponentChildren }) {
  const frame = useRef<HTMLElement>(null);
  const before = useRef(state);
  useLayoutEffect(() => {
    const isNew = before.current !== state && before.current !== "loading";
    before.current = state;
    if (!isNew) return;
    frame.current?.focus({ preventScroll: true });
    if (state !== "answered") scrollTo(0, 0);
  }, [state]);
  return (
    <article ref={frame} class={styles.frame} tabIndex={-1} data-focus>
      {children}
    </article>
  );
}

/** It closed or vanished before an answer was sent; what was begun is still shown. */
function Gone({ id, error, next }: { id: string; error: unknown; next: FeedItem | undefined }) {
  const draft = readDraft(id).answer;
  const expired = (error as { details?: { status?: string } }).details?.status === "EXPIRED";
  const notice =
    codeOf(error) === "QUESTION_CLOSED"
      ? { title: text.question.gone, hint: expired ? text.question.goneExpired : text.question.goneFull }
      : { title: text.question.unknown, hint: text.question.unknownHint };
  return (
    <>
      <Notice {...notice} />
      {draft && <Kept label={text.question.kept} words={draft} />}
      <NextStep next={next} />
    </>
  );
}
