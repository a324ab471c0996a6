import type { SignedIn } from "@parley/sdk/wire";
import { Link, nameAt, useLocation } from "../router.tsx";
import { later } from "../parts/later.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { isUnreachable } from "../queries.ts";
import { Trouble } from "../parts/trouble.tsx";
import { SignOut } from "../parts/sign-out.tsx";
import { holdsCode, isSignedOut, useSession } from "../session.ts";
import { useTitle } from "../title.ts";
import { wide } from "../wide.ts";
import styles from "./console.module.css";
import { Sections } from "./overview/pages.tsx";
import { Gone } from "./parts.tsx";
import { PAGES } from "./sections.ts";
import { Start } from "./start.tsx";
import { text } from "./text.ts";

/** A page of its own, to which no page of Run leads. */
const PromptPadPage = later(
  async () => (await import("./prompt-pad.tsx")).PromptPadPage,
  () => Loading({ rows: 3 }),
);

/** The pages for the operator of the server. */
export default function Console() {
  const session = useSession();
  useTitle(text.title);

  if (session.data) return <SignedInConsole person={session.data.person} />;
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
    return <Trouble title={text.signingIn} error={error} onTryAgain={onTryAgain} />;
  }
  const noSession = !holdsCode() && isSignedOut(error);
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

function SignedInConsole({ person }: { person: SignedIn["person"] }) {
  const isWide = wide.use();
  if (person.role !== "admin") return <NotForYou name={person.name} />;
  return (
    <div class={styles.room}>
      {isWide && <Sections />}
      <PageAt person={person} />
    </div>
  );
}

/** The page at the address, and the thing on it that the address names. */
function PageAt({ person }: { person: SignedIn["person"] }) {
  const [location] = useLocation();
  if (location === "/embed/prompt-pad.html") return <PromptPadPage />;
  const [, path, part] = /^\/console(?:\/([^/]+))?(?:\/([^/]+))?/.exec(location) ?? [];
  if (path === undefined) return <Start person={person} />;
  const Page = PAGES.find((one) => one.path === path)?.Page;
  if (!Page) return <Gone to="/console" />;
  return <Page key={path} item={part && nameAt(part)} me={person} />;
}

function NotForYou({ name }: { name: string }) {
  return (
    <div class={styles.console}>
      <Notice title={text.adminsOnly} hint={text.adminsOnlyHint(name)}>
        <Link href="/inbox" class="button primary">
          {text.openInbox}
        </Link>
        <SignOut label={text.signOut} />
      </Notice>
    </div>
  );
}
