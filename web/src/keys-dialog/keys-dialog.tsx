import { Dialog } from "../parts/dialog.tsx";
import styles from "./keys-dialog.module.css";
import { shortcuts } from "../settings.ts";
import { text as appText } from "../text.ts";
import { text } from "./text.ts";

const KEYS = [
  { keys: ["Enter"], does: "send", range: false },
  { keys: ["j", "k"], does: "move", range: false },
  { keys: ["?"], does: "help", range: false },
] as const;
const IN_ANSWER = [
  { keys: ["1", "9"], does: "press", range: true },
  { keys: ["Esc"], does: "undo", range: false },
  ...KEYS,
] as const;
const IN_INBOX = [
  { keys: ["1", "9"], does: "choose", range: true },
  { keys: ["a", "r"], does: "decide", range: false },
  { keys: ["s"], does: "snooze", range: false },
  { keys: ["/"], does: "search", range: false },
  ...KEYS,
] as const;

export function KeysDialog(props: { open: boolean; inInbox: boolean; onClose: () => void }) {
  const { open, inInbox, onClose } = props;
  const off = shortcuts.use() === "off";
  return (
    <Dialog title={appText.keys.title} open={open} onClose={onClose}>
      {off && <p class="muted">{text.off}</p>}
      <dl class={styles.keys}>
        {(inInbox ? IN_INBOX : IN_ANSWER).map(({ keys, does, range }) => (
          <div key={does}>
            <dt>
              {keys.map((key, index) => (
                <span key={key}>
                  {index > 0 && range ? "– " : ""}
                  <kbd>{key}</kbd>
                </span>
              ))}
            </dt>
            <dd>{text[does]}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
