import { useEffect, useRef, useState } from "preact/hooks";

/** How long a choice can be taken back before it is sent, in ms. */
const UNDO_MS = 700;

export interface Press {
  /** A choice is about to be sent. */
  isPending: boolean;
  /** Sends in a moment; a moment that already runs begins again. */
  begin: () => void;
  /** Sends nothing by itself any more. */
  undo: () => void;
}

/**
 * Calls `send` once, a moment after a press. It is called at once when the page is left or hidden before, so that the
 * press is not lost.
 */
export function usePress(send: () => void): Press {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [isPending, setPending] = useState(false);
  const latest = useRef(send);
  latest.current = send;

  const undo = (): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
    setPending(false);
  };
  const sendNow = (): void => {
    if (timer.current === undefined) return;
    undo();
    latest.current();
  };
  const begin = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(sendNow, UNDO_MS);
    setPending(true);
  };
  useEffect(() => {
    const onHide = (): void => {
      if (document.hidden) sendNow();
    };
    document.addEventListener("visibilitychange", onHide);
    addEventListener("pagehide", sendNow);
    return () => {
      document.removeEventListener("visibilitychange", onHide);
      removeEventListener("pagehide", sendNow);
      sendNow();
    };
  }, []);
  return { isPending, begin, undo };
}
