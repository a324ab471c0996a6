import type { CreatedKey } from "@parley/sdk/admin";
import { useEffect } from "preact/hooks";
import { besideList } from "../filter.ts";
import { Copyable } from "../parts/copyable.tsx";
import { Icon } from "../parts/icon.tsx";
import { Link } from "../router.tsx";
import styles from "./console.module.css";
import overviewStyles from "./overview/overview.module.css";
import { Detail, focusDetail, useEvery } from "./parts.tsx";
import { refresh, useKeyList } from "./queries.ts";
import { text } from "./text.ts";

const LOOK_MS = 2000;
const QUESTION = '{"prompt":"Which label is clearer?","type":"multiple_choice","options":["Send","Submit"]}';

/** The one time a key is seen: it is kept by nothing but this screen, which tells when the key was first used. */
export function MadeKey({ of: { id, key, scope }, base }: { of: CreatedKey; base: string }) {
  useEffect(focusDetail, []);
  return (
    <Detail title={text.keys.made}>
      <p>{text.keys.madeHint}</p>
      <Copyable label={text.keys.made} words={key} />
      {scope === "agent" && (
        <>
          <h2>{text.keys.tryIt}</h2>
          <Copyable
            label={text.keys.tryIt}
            words={`curl ${location.origin}/agent/questions \\\n  -H 'Authorization: Bearer ${key}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${QUESTION}'`}
          />
        </>
      )}
      <Light id={id} />
      <div class={styles.actions}>
        <Link href={besideList(base)} class="button primary">
          {text.keys.done}
        </Link>
      </div>
    </Detail>
  );
}

/** Turns green once a program has shown the key. */
function Light({ id }: { id: string }) {
  const isUsed = useKeyList().data?.find((one) => one.id === id)?.last_used_at != null;
  useEvery(LOOK_MS, !isUsed, () => void refresh("keys"));
  return (
    <p role="status" class={overviewStyles.step} data-done={isUsed || undefined}>
      {isUsed && <Icon name="check" />}
      {isUsed ? text.keys.wasUsed : text.keys.notUsedYet}
    </p>
  );
}
