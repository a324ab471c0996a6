import type { ComponentChildren } from "preact";
import { Link } from "../../router.tsx";
import { text as youText } from "./text.ts";
import { useTitle } from "../../title.ts";
import styles from "./you.module.css";

/** One of the two pages about the person in front of the screen, and the way to the other. */
export function You({ page, children }: { page: "figures" | "leaderboard"; children: ComponentChildren }) {
  const figures = { href: "/me", title: youText.me.title, label: youText.me.own };
  const leaderboard = { href: "/leaderboard", title: youText.leaderboard.title, label: youText.leaderboard.title };
  const [here, other] = page === "figures" ? [figures, leaderboard] : [leaderboard, figures];
  useTitle(here.title);
  return (
    <div class={styles.you}>
      <header class={styles.header}>
        <h1>{here.title}</h1>
        <Link href={other.href} class="button quiet">
          {other.label}
        </Link>
      </header>
      {children}
    </div>
  );
}
