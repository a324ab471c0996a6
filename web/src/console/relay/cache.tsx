import { announce } from "../../parts/announcer.tsx";
import { Loading, Notice } from "../../parts/notice.tsx";
import { More } from "../../parts/more.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useTitle } from "../../title.ts";
import styles from "../console.module.css";
import { moment } from "../../moment.ts";
import { type Action, ConfirmButton, Problem, useAction } from "../parts.tsx";
import * as api from "./api.ts";
import { Line, Output } from "./parts.tsx";
import relayStyles from "./relay.module.css";
import { text } from "./text.ts";
import type { Cached } from "./wire.ts";
import { text as consoleText } from "../text.ts";

/** Decisions that are repeated instead of asking again, and how often they were; each can be ended. */
export function CachePage() {
  useTitle(text.cache.title);
  const { decisions, count, error, refetch, hasNextPage, fetchNextPage } = api.useCache();
  const forgetAll = useAction(async () => {
    const { forgotten } = await api.forgetDecisions(undefined);
    announce(text.cache.forgottenAll(forgotten));
    await api.refreshRelay("cache");
  });
  const forget = useAction(async (key: string) => {
    await api.forgetDecision(key);
    announce(text.cache.forgotten);
    await api.refreshRelay("cache");
  });
  if (error && !decisions) return <Trouble title={text.cache.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!decisions) return <Loading rows={4} />;
  return (
    <section class={styles.console}>
      <h1>{text.cache.title}</h1>
      {decisions.length === 0 ? (
        <Notice level={2} title={text.cache.empty} hint={text.cache.emptyHint} />
      ) : (
        <>
          <p class="muted">{text.cache.about(count)}</p>
          <div class={styles.actions}>
            <ConfirmButton
              label={text.cache.forgetAll}
              title={text.cache.forgettingAll}
              hint={text.cache.forgettingAllHint}
              confirm={text.cache.confirmAll}
              action={forgetAll}
            />
            <Problem error={forget.error} />
          </div>
          <ul class={styles.entries}>
            {decisions.map((one) => (
              <li key={one.key}>
                <OneDecision of={one} />
                <Forget of={one} action={forget} />
              </li>
            ))}
          </ul>
          <More
            label={consoleText.older}
            rows={decisions.length}
            isMore={hasNextPage}
            readOn={() => fetchNextPage({ throwOnError: true })}
          />
        </>
      )}
    </section>
  );
}

function Forget({ of: { key, text: words }, action }: { of: Cached; action: Action<[string]> }) {
  return (
    <button type="button" class="quiet" aria-disabled={action.isBusy} onClick={() => void action.run(key)}>
      {text.cache.forget}
      <span class="unseen">
        {" "}
        (<bdi>{words ?? key}</bdi>)
      </span>
    </button>
  );
}

function OneDecision({ of: one }: { of: Cached }) {
  return (
    <div>
      <p class={relayStyles.prompt} dir="auto">
        {one.text ?? JSON.stringify(one.json)}
      </p>
      <Line
        parts={[
          text.cache.hits(one.hits),
          one.last_hit_at === null ? null : `${text.cache.last} ${moment(one.last_hit_at)}`,
          one.role === null ? text.cache.noRole : <bdi>{one.role}</bdi>,
          text.cache.decided(one.source, one.answered_by ?? one.model),
          `${text.cache.until} ${moment(one.expires_at)}`,
        ]}
      />
      {one.text !== null && <Output label={text.asks.json} value={one.json} />}
    </div>
  );
}
