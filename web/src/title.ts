import { useEffect } from "preact/hooks";
import { text } from "./text.ts";

/** Gives the document the title of its content. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === text.app ? title : `${title} · ${text.app}`;
  }, [title]);
}
