import { AUDIENCES, type Stats } from "@parley/sdk/wire";
import type { QueryObserverResult } from "@tanstack/query-core";
import type { ComponentChildren } from "preact";
import { Link } from "../../router.tsx";
import { day, number } from "../../format.ts";
import { installOffer } from "../../install.ts";
import { chosenLanguage, type Language, LANGUAGES } from "../../language.ts";
import { Choice } from "../../parts/choice.tsx";
import { later } from "../../parts/later.tsx";
import { Loading } from "../../parts/notice.tsx";
import { useStats } from "../../queries.ts";
import { Trouble } from "../../parts/trouble.tsx";
import { named, shortcuts, theme, wearTheme } from "../../settings.ts";
import { text } from "../../text.ts";
import { text as youText } from "./text.ts";
import { Badge } from "../badge.tsx";
import { Erase } from "./erase.tsx";
import styles from "./me.module.css";
import { Notifications } from "./notifications.tsx";
import { Recovery } from "./recovery.tsx";
import { You } from "./you.tsx";

const AwaySection = later(
  async () => (await import("../../inbox/away.tsx")).AwaySection,
  () => <Loading rows={3} />,
);

/** The points and badges that this person has earned, and the settings of this device. */
export default function MePage({ onShowKeys }: { onShowKeys: () => void }) {
  const stats = useStats();
  return (
    <You page="figures">
      {stats.isPending ? <Loading rows={5} /> : <Everything stats={stats} onShowKeys={onShowKeys} />}
    </You>
  );
}

/** All sections appear together, so that none pushes another down. */
function Everything({ stats, onShowKeys }: { stats: QueryObserverResult<Stats>; onShowKeys: () => void }) {
  const { data, error, refetch } = stats;
  // Somebody with a name signs in on the other device.
  const signedIn = named.use();
  return (
    <>
      {data ? (
        <Figures stats={data} />
      ) : (
        <Trouble level={2} title={youText.me.failed} error={error} onTryAgain={() => void refetch()} />
      )}
      <Section title={youText.notifications.title} id="notifications">
        <Notifications />
      </Section>
      {signedIn !== "no" && <AwaySection />}
      {signedIn === "no" && (
        <Section title={youText.recovery.title}>
          <Recovery />
        </Section>
      )}
      <Device onShowKeys={onShowKeys} />
      <Section title={youText.erase.title}>
        <Erase />
      </Section>
      <p class="muted">
        {youText.me.console} <Link href="/console">{youText.me.consoleLink}</Link>
      </p>
    </>
  );
}

export function Section({ title, id, children }: { title: string; id?: string; children: ComponentChildren }) {
  return (
    <section class={styles.section} id={id}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Figures({ stats }: { stats: Stats }) {
  const figures = [
    { label: youText.me.points(stats.points_today ?? 0), value: number(stats.total_points) },
    { label: youText.me.streak, value: number(stats.streak_days) },
    { label: youText.me.answers, value: number(stats.total_answers) },
    {
      label: youText.me.rank,
      value: stats.rank === null ? youText.me.noRank : number(stats.rank),
    },
  ];
  const categories = AUDIENCES.filter((one) => stats.answers_by_category[one]);
  const most = Math.max(1, ...categories.map((one) => stats.answers_by_category[one] ?? 0));
  return (
    <>
      <dl class={styles.figures}>
        {figures.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {stats.total_answers === 0 && <p class="muted">{youText.me.empty}</p>}
      <Section title={youText.me.badges}>
        <Badges stats={stats} />
      </Section>
      {categories.length > 0 && (
        <Section title={youText.me.categories}>
          <dl class={styles.categories}>
            {categories.map((one) => (
              <div key={one}>
                <dt>{text.audience[one]}</dt>
                <dd>
                  <span
                    class={styles.bar}
                    style={{
                      inlineSize: `${((stats.answers_by_category[one] ?? 0) / most) * 100}%`,
                    }}
                  />
                  {number(stats.answers_by_category[one] ?? 0)}
                </dd>
              </div>
            ))}
          </dl>
        </Section>
      )}
    </>
  );
}

/** How many badges still to be earned are shown at once: the nearest. */
const NEAREST = 4;

function Badges({ stats }: { stats: Stats }) {
  const ahead = [...(stats.badge_progress ?? [])].sort((a, b) => b.have / b.need - a.have / a.need);
  const row = (one: (typeof ahead)[number]) => (
    <Badge
      key={one.id}
      id={one.id}
      name={one.name}
      share={Math.min(one.have / one.need, 0.99)}
      note={youText.me.progress(one.have, one.need)}
    />
  );
  return (
    <>
      <ul class={styles.badges}>
        {stats.badges.map(({ id, name, earned_at }) => (
          <Badge key={id} id={id} name={name} share={1} note={day(earned_at)} />
        ))}
        {ahead.slice(0, NEAREST).map(row)}
      </ul>
      {ahead.length > NEAREST && (
        <details class={styles.more}>
          <summary>{youText.me.showAll}</summary>
          <ul class={styles.badges}>{ahead.slice(NEAREST).map(row)}</ul>
        </details>
      )}
    </>
  );
}

function Device({ onShowKeys }: { onShowKeys: () => void }) {
  const offer = installOffer.use();
  const worn = theme.use();
  const keys = shortcuts.use();
  return (
    <>
      <Section title={youText.me.appearance}>
        <Choice
          legend={youText.me.appearance}
          hideLegend
          value={worn}
          onChoose={wearTheme}
          options={(["system", "light", "dark"] as const).map((value) => ({
            value,
            label: youText.me.themes[value],
          }))}
        />
      </Section>
      <Section title={youText.me.language}>
        <LanguageChoice />
      </Section>
      <Section title={youText.me.keyboard}>
        <div class={styles.row}>
          <label class={styles.check}>
            <input
              type="checkbox"
              checked={keys === "on"}
              onChange={(event) => shortcuts.set(event.currentTarget.checked ? "on" : "off")}
            />
            {youText.me.shortcuts}
          </label>
          <button type="button" class="quiet" onClick={onShowKeys}>
            {youText.me.showKeys}
          </button>
        </div>
      </Section>
      {offer && (
        <Section title={youText.me.install}>
          <p class="muted">{youText.me.installHint}</p>
          <div>
            <button type="button" onClick={() => void offer.prompt().then(() => installOffer.set(null))}>
              {youText.me.install}
            </button>
          </div>
        </Section>
      )}
    </>
  );
}

/** Each language names itself; the page is loaded again in the chosen one. */
const LANGUAGE_NAMES = { en: "English", de: "Deutsch", ar: "العربية" } satisfies Record<Language, string>;

function LanguageChoice() {
  return (
    <select
      aria-label={youText.me.language}
      value={chosenLanguage.get()}
      onChange={(event) => {
        const { value } = event.currentTarget;
        chosenLanguage.set(LANGUAGES.find((one) => one === value) ?? "browser");
        location.reload();
      }}
    >
      <option value="browser">{youText.me.ofBrowser}</option>
      {LANGUAGES.map((one) => (
        <option key={one} value={one} lang={one}>
          {LANGUAGE_NAMES[one]}
        </option>
      ))}
    </select>
  );
}
