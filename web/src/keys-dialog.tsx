import { Dialog } from "./parts/dialog.tsx";
import styles from "./keys-dialog.module.css";
import { shortcuts } from "./settings.ts";
import { text } from "./text.ts";

const KEYS = [
  { keys: ["Enter"], does: text.keys.send, range: false },
  { keys: ["j", "k"], does: text.keys.move, range: false },
  { keys: ["?"], does: text.keys.help, range: false },
];
const IN_ANSWER = [
  { keys: ["1", "9"], does: text.keys.press, range: true },
  { keys: ["Esc"], does: text.keys.undo, range: false },
  ...KEYS,
];
const IN_INBOX = [
  { keys: ["1", "9"], does: text.keys.choose, range: true },
  { keys: ["a", "r"], does: text.keys.decide, range: false },
  { keys: ["/"], does: text.keys.search, range: false },
  ...KEYS,
];

export function KeysDialog(props: { open: boolean; inInbox: boolean; onClose: () => void }) {
  const { open, inInbox, onClose } = props;
  const off = shortcuts.use() === "off";
  return (
    <Dialog title={text.keys.title} open={open} onClose={onClose}>
      {off && <p class="muted">{text.keys.off}</p>}
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
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
