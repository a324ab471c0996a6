import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { withTexts } from "../language.ts";

/** A component that is loaded by itself, so that a page can be used before it is there. */
export interface Later<P> {
  (props: P): JSX.Element | null;
  /** Loads it before it is needed. A failure is kept for the moment at which it is shown. */
  load: () => Promise<void>;
}

/**
 * Returns a component that shows nothing, or `meanwhile`, until its code is loaded. Loaded ahead, it is drawn at once,
 * unlike a lazy component of Preact. A failed load is thrown while it is drawn, or `otherwise` is drawn in its place.
 */
export function later<P extends object>(
  read: () => Promise<ComponentType<P>>,
  meanwhile?: () => JSX.Element,
  otherwise?: ComponentType<P>,
): Later<P> {
  let Loaded: ComponentType<P> | undefined;
  const Otherwise = otherwise;
  const load = async (): Promise<void> => {
    Loaded ??= await withTexts(read());
  };
  const Shown = (props: P) => {
    const [state, draw] = useState<{ error?: unknown }>({});
    if ("error" in state && !Otherwise) throw state.error;
    const drawn = Loaded;
    useEffect(() => {
      // It may have been loaded since it was drawn as nothing.
      if (drawn) return;
      const fail = (error: unknown): void => draw({ error });
      load().then(() => draw({}), fail);
    }, []);
    if (Loaded) return <Loaded {...props} />;
    return "error" in state && Otherwise ? <Otherwise {...props} /> : (meanwhile?.() ?? null);
  };
  return Object.assign(Shown, { load: () => load().catch(() => {}) });
}
