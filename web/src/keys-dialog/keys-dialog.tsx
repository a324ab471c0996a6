import { useDeliberate } from "../parts/deliberate.ts";
import { Dialog } from "../parts/dialog.tsx";
import { useLocation } from "../router.tsx";
import { shortcuts } from "../settings.ts";
import { text as appText } from "../text.ts";
import { actionsNow, keyCap } from "./actions.ts";
import styles from "./keys-dialog.module.css";
import { type ActionName, KEYS, ROOMS } from "./names.ts";
import { Palette } from "./palette.tsx";
import { text } from "./text.ts";

/** The list of keys or the palette; null once it was closed again. */
export type KeysShown = "list" | "palette" | null;

export function KeysDialog({ shown, onClose }: { shown: KeysShown; onClose: () => void }) {
  // The keys of a card that has only just appeared act in half a second, and are listed then.
  useDeliberate(shown);
  return (
    <>
      <Dialog title={appText.keys.title} open={shown === "list"} onClose={onClose}>
        <List />
      </Dialog>
      <Palette open={shown === "palette"} onClose={onClose} />
    </>
  );
}

/** The actions of this screen, and then those of other screens of the room. */
function List() {
  const [path] = useLocation();
  const room = path.startsWith("/inbox") ? "inbox" : path.startsWith("/console") ? "run" : "answer";
  const off = shortcuts.use() === "off";
  const now = new Map<ActionName, string[]>();
  for (const { key, name } of actionsNow()) now.set(name, [...(now.get(name) ?? []), keyCap(key)]);
  const rest = ROOMS[room].filter((name) => !now.has(name));
  return (
    <>
      {off && <p class="muted">{text.off}</p>}
      <Actions title={text.now} rows={[...now]} />
      {rest.length > 0 && (
        <Actions
          title={text.elsewhere}
          rows={rest.map((name) => [name, name === "choose" ? ["1", "9"] : [keyCap(KEYS[name])]])}
        />
      )}
    </>
  );
}

function Actions({ title, rows }: { title: string; rows: readonly (readonly [ActionName, readonly string[]])[] }) {
  return (
    <section>
      <h3 class="small muted">{title}</h3>
      <dl class={styles.keys}>
        {rows.map(([name, keys]) => (
          <div key={name}>
            <dt>
              <kbd>{keys[0]}</kbd>
              {keys.length > 1 && (
                <>
                  – <kbd>{keys.at(-1)}</kbd>
                </>
              )}
            </dt>
            <dd>{text.actions[name]}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
