import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { text } from "../text.ts";
import styles from "./dialog.module.css";
import { Icon } from "./icon.tsx";

/**
 * The platform's own modal dialog: it keeps the focus inside and gives it back when it closes. Escape closes it the way
 * its own button does, at once and with what is in it: were the browser to close it, the page would be notified a
 * moment later, and a key typed in between would be lost.
 */
export function Dialog(props: { title: string; open: boolean; onClose: () => void; children: ComponentChildren }) {
  const { title, open, onClose, children } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  // After every render: one that the browser closed may be wanted again before it was noticed.
  useLayoutEffect(() => {
    if (open && !ref.current?.open) ref.current?.showModal();
    if (!open) ref.current?.close();
  });

  return (
    <dialog
      ref={ref}
      class={styles.dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // Where the browser closes it all the same, it says so a moment later, when it may be open again.
      onClose={() => open && !ref.current?.open && onClose()}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      {open && (
        <div class={styles.inside}>
          <header class={styles.header}>
            <h2 id={titleId} tabIndex={-1}>
              {title}
            </h2>
            <button type="button" class="quiet square" onClick={onClose} aria-label={text.close}>
              <Icon name="close" />
            </button>
          </header>
          {children}
        </div>
      )}
    </dialog>
  );
}
