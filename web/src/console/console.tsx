import { ParleyError } from "@parley/sdk/errors";
import type { SignedIn } from "@parley/sdk/wire";
import { Link } from "wouter";
import { Copyable } from "../parts/copyable.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { isUnreachable } from "../queries.ts";
import { holdsCode, signOut, useSession } from "../session.ts";
import { useTitle } from "../title.ts";
import styles from "./console.module.css";
import { text } from "./text.ts";

/** Where an operator arrives: who is signed in, and how to connect the first agent. */
export default function Console() {
  const session = useSession();
  useTitle(text.title);

  if (session.data) return <SignedInConsole session={session.data} />;
  if (!session.error) {
    return (
      <div class={styles.console}>
        <h1>{text.signingIn}</h1>
        <Loading rows={2} />
      </div>
    );
  }
  return (
    <div class={styles.console}>
      <SignInTrouble error={session.error} onTryAgain={() => void session.refetch()} />
    </div>
  );
}

function SignInTrouble({ error, onTryAgain }: { error: Error; onTryAgain: () => void }) {
  if (isUnreachable(error)) {
    return (
      <Notice title={text.unreachable}>
        <button type="button" class="primary" onClick={onTryAgain}>
          {text.tryAgain}
        </button>
      </Notice>
    );
  }
  const noSession = !holdsCode() && error instanceof ParleyError && error.status === 401;
  return (
    <Notice
      title={noSession ? text.signedOut : text.codeFailed}
      hint={noSession ? text.signedOutHint : text.codeFailedHint}
    >
      <Link href="/" class="button primary">
        {text.open}
      </Link>
    </Notice>
  );
}

function SignedInConsole({ session }: { session: SignedIn }) {
  const { name, role } = session.person;
  const here = location.origin;
  const question = '{"prompt":"Which label is clearer?","type":"multiple_choice","options":["Send","Submit"]}';
  return (
    <div class={styles.console}>
      <header class={styles.header}>
        <div>
          <h1>{text.title}</h1>
          <p class="muted">{text.signedInAs(name, role)}</p>
        </div>
        <button type="button" class="quiet" onClick={() => void signOut()}>
          {text.signOut}
        </button>
      </header>
      <section class={styles.section}>
        <h2>{text.inbox}</h2>
        <p class="muted">{text.inboxHint}</p>
        <div>
          <Link href="/inbox" class="button">
            {text.openInbox}
          </Link>
        </div>
      </section>
      <section class={styles.section}>
        <h2>{text.connect}</h2>
        <p class="muted">{text.connectHint}</p>
        <h3>{text.ask}</h3>
        <Copyable
          label={text.ask}
          words={`curl ${here}/agent/questions \\\n  -H 'Content-Type: application/json' \\\n  -d '${question}'`}
        />
        <h3>{text.read}</h3>
        <p class="muted">{text.readHint}</p>
        <Copyable label={text.read} words={`curl "${here}/agent/questions/QUESTION_ID?wait=25"`} />
        <h3>{text.environment}</h3>
        <Copyable label={text.environment} words={`export PARLEY_URL=${here}`} />
        <p class="muted">{text.remoteHint}</p>
      </section>
      <section class={styles.section}>
        <h2>{text.answer}</h2>
        <p class="muted">{text.answerHint}</p>
        <Copyable label={text.answer} words={`${here}/`} />
        <div>
          <Link href="/" class="button primary">
            {text.open}
          </Link>
        </div>
      </section>
    </div>
  );
}
