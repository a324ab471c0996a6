import { useId } from "preact/hooks";
import { Link, useLocation } from "../../router.tsx";
import { GROUPS, type PagePlace } from "../sections.ts";
import { text as consoleText } from "../text.ts";
import styles from "./overview.module.css";
import { text } from "./text.ts";

const hrefOf = ({ path }: PagePlace): string => `/console/${path}`;
const isAt = (location: string, href: string): boolean => location === href || location.startsWith(`${href}/`);

/** All pages in their groups, each with its state: the first page of the console. */
export function Groups() {
  return (
    <nav class={styles.groups} aria-label={text.all}>
      {GROUPS.map(({ name, pages }) => (
        <section key={name} class={styles.group} aria-labelledby={`group-${name}`}>
          <h2 id={`group-${name}`}>{text.groups[name]}</h2>
          <ul class={styles.pages}>
            {pages.map((page) => (
              <li key={page.path}>
                <PageLink page={page} isHere={false} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

/** The groups above every page where there is room, with the pages of the present one and their state. */
export function Sections() {
  const [location] = useLocation();
  const here = GROUPS.find(({ pages }) => pages.some((page) => isAt(location, hrefOf(page))));
  return (
    <nav aria-label={consoleText.sections}>
      <ul class={styles.row}>
        <li>
          <Link href="/console" aria-current={location === "/console" ? "page" : undefined}>
            {text.nav}
          </Link>
        </li>
        {GROUPS.map(({ name, pages: [first] }) => (
          <li key={name}>
            <Link href={first ? hrefOf(first) : "/console"} aria-current={name === here?.name ? "true" : undefined}>
              {text.groups[name]}
            </Link>
          </li>
        ))}
      </ul>
      {here && (
        <ul class={styles.within} aria-label={text.pages(text.groups[here.name])}>
          {here.pages.map((page) => (
            <li key={page.path}>
              <PageLink page={page} isHere={isAt(location, hrefOf(page))} />
            </li>
          ))}
        </ul>
      )}
    </nav>
  );
}

/** A page's name is the link, which covers the whole row; its state stands beside it and describes it. */
function PageLink({ page, isHere }: { page: PagePlace; isHere: boolean }) {
  const id = useId();
  const state = page.useState();
  return (
    <div class={styles.page} data-here={isHere || undefined}>
      <Link
        href={hrefOf(page) + (state?.opens ?? "")}
        class={styles.label}
        aria-current={isHere ? "page" : undefined}
        aria-describedby={id}
      >
        {page.label()}
      </Link>
      <span id={id} class={styles.state} data-wants={state?.wants}>
        {state === undefined ? text.loading : state === null ? text.unknown : state.says}
      </span>
    </div>
  );
}
