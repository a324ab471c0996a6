import { cutTo, titleOf } from "../../core/model/title.ts";
import { printable } from "../../lib/printable.ts";

/** The members of a job's specification that say in words what it is about, the clearest first. */
const TITLES = ["title", "summary", "name", "goal", "prompt"];
const MOST_MEMBERS = 2;
const LONGEST_VALUE = 40;

/**
 * Returns one line that people know a job by: the words of its specification, or its kind with what it is about. A job
 * whose specification says nothing in words is called by its kind and id.
 */
export function jobTitle({ id, kind, spec }: { id: string; kind: string; spec: unknown }): string {
  const texts = textsIn(spec);
  const title = TITLES.map((name) => texts.get(name)).find((text) => text !== undefined);
  if (title !== undefined) return printable(titleOf(title));
  const [task, repo] = [texts.get("task"), texts.get("repo")];
  if (task !== undefined && repo !== undefined) return printable(`Task ${task} in ${repo}`);
  const about = [...texts.values()].slice(0, MOST_MEMBERS).map((text) => cutTo(LONGEST_VALUE, titleOf(text)));
  const words = kind.replace(/[-_/]+/g, " ").trim();
  const named = words.charAt(0).toUpperCase() + words.slice(1);
  return printable(about.length > 0 ? `${named}: ${about.join(", ")}` : `${named} ${id}`.trim());
}

function textsIn(spec: unknown): Map<string, string> {
  if (typeof spec !== "object" || spec === null || Array.isArray(spec)) return new Map();
  const texts = Object.entries(spec).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1].trim() !== "",
  );
  return new Map(texts);
}
