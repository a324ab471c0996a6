import { ParleyError } from "@parley/sdk/errors";
import type { SignedIn } from "@parley/sdk/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { people } from "../api.ts";
import { listen } from "../live.ts";
import { Copyable } from "../parts/copyable.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { isUnreachable, queries } from "../queries.ts";
import { useTitle } from "../title.ts";
import styles from "./console.module.css";
import { text } from "./text.ts";

/** Taken from the address as soon as the Console opens, so that it is in no history and on no screenshot. */
let startCode = takeStartCode();

function takeStartCode(): string | null {
  const code = /^#start=(.+)$/.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(history.state, "", location.pathname);
  return code;
}

async function signInOrAsk(): Promise<SignedIn> {
  if (startCode === null) return people.session();
  const signedIn = await people.signIn(startCode);
  startCode = null;
  // Whoever looked at the rest of the app until now was somebody else.
  void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
  listen();
  return signedIn;
}

/** Where an operator arrives: who is signed in, and how to connect the first agent. */
export default function Console() {
  const session = useQuery({
    queryKey: ["session"],
    queryFn: signInOrAsk,
    staleTime: Infinity,
  });
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
  const noSession = startCode === null && error instanceof ParleyError && error.status === 401;
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

  const signOut = async (): Promise<void> => {
    await people.signOut();
    await queries.resetQueries({ queryKey: ["session"] });
  };
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
