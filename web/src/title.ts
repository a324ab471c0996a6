import { useEffect } from "preact/hooks";
import { text } from "./text.ts";

/** The document is called after what it shows. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === text.app ? title : `${title} · ${text.app}`;
  }, [title]);
}
