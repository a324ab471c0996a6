import type { SignedIn } from "@parley/sdk/wire";
import { Link } from "../router.tsx";
import { Copyable } from "../parts/copyable.tsx";
import { SignOut } from "../parts/sign-out.tsx";
import styles from "./console.module.css";
import { Groups } from "./overview/pages.tsx";
import { Section } from "./parts.tsx";
import { text } from "./text.ts";

/** Where an operator arrives: who is signed in, every page with its state, and how to connect the first agent. */
export function Start({ person: { name, role } }: { person: SignedIn["person"] }) {
  const here = location.origin;
  const question = '{"prompt":"Which label is clearer?","type":"multiple_choice","options":["Send","Submit"]}';
  return (
    <div class={styles.console}>
      <header class={styles.header}>
        <div>
          <h1>{text.title}</h1>
          <p class="muted">{text.signedInAs(name, role)}</p>
        </div>
        <SignOut label={text.signOut} />
      </header>
      <Groups />
      <Section title={text.start.inbox}>
        <p class="muted">{text.start.inboxHint}</p>
        <div>
          <Link href="/inbox" class="button">
            {text.openInbox}
          </Link>
        </div>
      </Section>
      <Section title={text.start.connect}>
        <p class="muted">{text.start.connectHint}</p>
        <h3>{text.start.ask}</h3>
        <Copyable
          label={text.start.ask}
          words={`curl ${here}/agent/questions \\\n  -H 'Content-Type: application/json' \\\n  -d '${question}'`}
        />
        <h3>{text.start.read}</h3>
        <p class="muted">{text.start.readHint}</p>
        <Copyable label={text.start.read} words={`curl "${here}/agent/questions/QUESTION_ID?wait=25"`} />
        <h3>{text.start.environment}</h3>
        <Copyable label={text.start.environment} words={`export PARLEY_URL=${here}`} />
        <p class="muted">
          {text.start.remoteHint} <Link href="/console/keys">{text.keys.title}</Link>.
        </p>
      </Section>
      <Section title={text.start.answer}>
        <p class="muted">{text.start.answerHint}</p>
        <Copyable label={text.start.answer} words={`${here}/`} />
        <div>
          <Link href="/" class="button primary">
            {text.open}
          </Link>
        </div>
      </Section>
    </div>
  );
}
