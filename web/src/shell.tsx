import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { AnswerRoom } from "./answer/answer-room.tsx";
import { ListButton } from "./answer/drawer.tsx";
import { reachable } from "./api.ts";
import { hasKeyboard, useKeys } from "./keys.ts";
import type { KeysShown } from "./keys-dialog/keys-dialog.tsx";
import { announce, Announcer } from "./parts/announcer.tsx";
import { Icon, Mark } from "./parts/icon.tsx";
import { later } from "./parts/later.tsx";
import { Loading, Notice } from "./parts/notice.tsx";
import { Link, nameAt, search, useLocation } from "./router.tsx";
import { named } from "./settings.ts";
import styles from "./shell.module.css";
import { text } from "./text.ts";
import { useTitle } from "./title.ts";
import { wide } from "./wide.ts";

const loading = () => <Loading />;
const Console = later(async () => (await import("./console/console.tsx")).default, loading);
const MePage = later(async () => (await import("./answer/you/me.tsx")).default, loading);
const Leaderboard = later(async () => (await import("./answer/you/leaderboard.tsx")).default, loading);
const Inbox = later(async () => (await import("./inbox/inbox.tsx")).default, loading);
/** Until the code is there an empty dialog is open, so that no letter that is typed for the palette is a key. */
const KeysDialog = later(
  async () => (await import("./keys-dialog/keys-dialog.tsx")).KeysDialog,
  () => <dialog open class="unseen" />,
);

/** The places of the app: never more, so that each has its tab at any width and size of text. */
const ANSWER = { href: "/", name: "answer", icon: "questions" } as const;
const INBOX = { href: "/inbox", name: "inbox", icon: "inbox" } as const;
const RUN = { href: "/console", name: "run", icon: "console" } as const;
const YOU = { href: "/me", name: "you", icon: "me" } as const;

/** The elements of every screen, and the screen itself. */
export function Shell() {
  const [location] = useLocation();
  const [keysShown, showKeys] = useState<KeysShown>();
  useFocusOnNavigation(location);
  const openKeys = (): void => showKeys("list");
  useKeys({ "?": openKeys, "⌘k": () => showKeys("palette") });
  const room = roomOf(location);

  return (
    <div class={styles.shell} data-detail={/^\/(inbox|console)\/./.test(location) || undefined}>
      <a class={styles.skip} href="#main">
        {text.skipToContent}
      </a>
      <Header location={location} onShowKeys={openKeys} />
      <main id="main" class={styles.main} tabIndex={-1}>
        <Mishaps at={room ?? location}>
          <Screen location={location} onShowKeys={openKeys} />
          {keysShown !== undefined && <KeysDialog shown={keysShown} onClose={() => showKeys(null)} />}
        </Mishaps>
      </main>
      <Announcer />
    </div>
  );
}

/** The Inbox or the Console, where the address is in one of them. */
function roomOf(location: string): string | undefined {
  return /^\/(inbox|console)/.exec(location)?.[0];
}

/** The way to every place, and the way up from a screen within one. */
function Header({ location, onShowKeys }: { location: string; onShowKeys: () => void }) {
  const room = roomOf(location);
  const inInbox = room === INBOX.href;
  const inRun = room === RUN.href;
  // Asks are addressed to people with names: nobody else has an inbox. Running the server is for some of them.
  const who = named.use();
  const places = [ANSWER, ...(who !== "no" || inInbox ? [INBOX] : []), ...(who === "admin" || inRun ? [RUN] : []), YOU];
  const up = location.slice(0, location.lastIndexOf("/"));
  // The list is as it was chosen; the first page of Run has no list.
  const chosen = search.use();
  const isWide = wide.use();

  return (
    <header class={styles.header}>
      <div class={styles.bar}>
        <Link href="/" class={styles.name} replace={isIn("/", location)}>
          <Mark />
          {text.app}
        </Link>
        {room && (
          <Link href={up === RUN.href ? up : up + chosen} class={styles.back}>
            <Icon name="back" />
            {text.nav[inRun ? "back" : "inbox"]}
          </Link>
        )}
        <Offline />
        {!isWide && location.startsWith("/q/") && <ListButton />}
      </div>
      <nav class={styles.nav} aria-label={text.nav.label}>
        {places.map(({ href, name, icon }) => (
          <Link
            key={href}
            href={href}
            // The first question takes the place of its own address, so that Back is not a step to the same question.
            replace={href === ANSWER.href && isIn(href, location)}
            aria-current={isIn(href, location) ? "page" : undefined}
          >
            <Icon name={icon} />
            <span>{text.nav[name]}</span>
          </Link>
        ))}
      </nav>
      {hasKeyboard && (
        <button type="button" class={`quiet square ${styles.keys}`} aria-label={text.keys.title} onClick={onShowKeys}>
          <kbd aria-hidden="true">?</kbd>
        </button>
      )}
    </header>
  );
}

/** The screen at the address. */
function Screen({ location, onShowKeys }: { location: string; onShowKeys: () => void }) {
  const [, place = "", part] = /^\/([^/]*)(?:\/([^/]+))?\/?$/.exec(location) ?? [];
  const id = part && nameAt(part);
  if (location === "/") return <AnswerRoom />;
  if (place === "q" && id !== undefined) return <AnswerRoom id={id} />;
  if (location === "/me") return <MePage onShowKeys={onShowKeys} />;
  if (location === "/leaderboard") return <Leaderboard />;
  if (place === "inbox") return <Inbox {...(id !== undefined && { id })} />;
  if (/^\/(console|embed)(\/|$)/.test(location)) return <Console />;
  return <NotFound />;
}

function isIn(href: string, location: string): boolean {
  if (href === ANSWER.href) return location === "/" || location.startsWith("/q/");
  return location.startsWith(href) || (href === YOU.href && location.startsWith("/leaderboard"));
}

/** Says that the server is out of reach; its place is always kept, so nothing moves. */
function Offline() {
  const offline = !reachable.use();
  return (
    <p class={styles.offline} role="status">
      {offline && <span>{text.offline}</span>}
    </p>
  );
}

/** A new screen begins at its beginning, or where it was left, for the keyboard and for screen readers too. */
function useFocusOnNavigation(location: string): void {
  const before = useRef(location);
  useEffect(() => {
    const from = before.current;
    before.current = location;
    const openedByItself = history.state === "opened-by-itself";
    if (from === location || openedByItself) return;
    const begin = document.querySelector<HTMLElement>("[data-focus]") ?? document.getElementById("main");
    scrollTo(0, Number(begin?.dataset["place"] ?? 0));
    begin?.focus({ preventScroll: true });
  }, [location]);
}

function NotFound() {
  useTitle(text.notFound.title);
  return (
    <div class={styles.column}>
      <Notice title={text.notFound.title} hint={text.notFound.hint}>
        <Link href="/" class="button primary">
          {text.notFound.action}
        </Link>
      </Notice>
    </div>
  );
}

/** Our own mistakes end in a screen with a way out, not in a blank page. At another address the app is tried again. */
class Mishaps extends Component<{ at: string; children: ComponentChildren }, { broken?: string }> {
  override state: { broken?: string } = {};

  override componentDidCatch(error: unknown): void {
    console.error(error);
    announce(text.broken.title);
    this.setState({ broken: this.props.at });
  }

  override render() {
    if (this.state.broken !== this.props.at) return this.props.children;
    return (
      <div class={styles.column}>
        <Notice title={text.broken.title} hint={text.broken.hint}>
          <button type="button" class="primary" onClick={() => location.reload()}>
            {text.broken.action}
          </button>
        </Notice>
      </div>
    );
  }
}
