import { createStore, type Store } from "./store.ts";

const query = matchMedia("(width >= 60rem)");

/** Whether list and question stand side by side. */
export const wide: Store<boolean> = createStore(query.matches);
query.addEventListener("change", () => wide.set(query.matches));
