import { recall, remember } from "../device.ts";
import { text } from "../text.ts";
import styles from "./answer-form.module.css";

/** One line above the first question that this browser ever shows. */
export function Welcome({ id }: { id: string }) {
  const first = recall("welcomed");
  if (first === null) remember("welcomed", id);
  return first === null || first === id ? <p class={styles.welcome}>{text.welcome}</p> : null;
}
