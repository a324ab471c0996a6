import { pathPatternProblem } from "../model/path-condition.ts";
import { type Carried, left, type ListFile, type RulePart } from "./agent-list.ts";

/** A pattern of files in an agent's lists, in names; `**` stands for any number of them. */
export interface FilePattern {
  names: readonly string[];
  /** The folder that it begins in: "any" below which it may begin, a path, or null for that in which the agent was started. */
  from: "any" | "/" | null;
  /** The pattern also covers all that is below a folder that it covers. */
  coversBelow: boolean;
}

/** Returns the names of a path. */
export const namesIn = (path: string): string[] => path.split("/").filter((name) => name !== "");

/** Returns the parts of an ALLOW about all files. */
export const filesOfFolder = (fn: readonly string[], more: Partial<RulePart> = {}): Carried => ({
  parts: [{ fn, path: ["**"], ...more }],
  note: "narrower: files of the folder alone",
});

/** Returns the parts of an ALLOW that stay within a pattern of an agent. */
export function narrowParts(
  fn: readonly string[],
  { names, from, coversBelow }: FilePattern,
  { project }: Pick<ListFile, "project">,
): Carried {
  if (names.some((name) => /[?[\]{}!\\]/.test(name) || (name.includes("**") && name !== "**")))
    return left("it holds a sign other than * and **");
  const folder = namesIn(project ?? "");
  const isBelow = project !== null && folder.every((name, at) => names[at] === name);
  if (from === "/" && !isBelow) return left("it is about files outside of the folder of a project");
  if (from === null && project === null)
    return left("its folder is the one in which the agent was started, which a prompt does not tell");
  const inside = from === "/" ? names.slice(folder.length) : from === "any" ? ["**", ...names] : names;
  const begins = inside[0] === "**" && inside[1] === "**" ? inside.slice(1) : inside;
  const pattern = begins.join("/");
  const below = coversBelow && begins.at(-1) !== "**" && !(begins.at(-1) ?? "").includes("*") ? [`${pattern}/**`] : [];
  const path = [pattern, ...below];
  return path.every((one) => pathPatternProblem(one) === null)
    ? { parts: [{ fn, path, ...onlyIn({ project }) }] }
    : left("its folders cannot be compared");
}

const UNLIKE_NAMES = /[?[\]{}\\$%`:]|^~|\*\*|\p{C}/u;

/**
 * Returns the parts that cover at least a pattern of an agent, whatever folder the call names: a path is compared as seen
 * from there, so the end of the pattern counts as well, and a folder within the pattern covers every file.
 */
export function wideParts(fn: readonly string[], { names, from }: FilePattern): Carried {
  const plain = names
    .filter((name) => name !== "." && name !== "..")
    .map((name) => (name !== "**" && UNLIKE_NAMES.test(name) ? "*" : name));
  const all = from === "any" && plain[0] !== "**" ? ["**", ...plain] : plain;
  const lastOpen = all.findLastIndex((name) => /^\*+$/.test(name) === false);
  const note = "wider: also files outside of the folder of the call";
  if (lastOpen < 0) return { parts: [{ fn }], note };
  const base = all.slice(0, lastOpen + 1);
  const rest = all.slice(lastOpen + 1);
  const ends = base.map((_, at) => base.slice(at)).filter((_, at) => at === 0 || base[at - 1] !== "**");
  const path = ends.flatMap((end) => {
    const pattern = oneDepth(end).join("/");
    return rest.length > 0 ? [`${pattern}/**`] : [pattern, `${pattern}/**`];
  });
  const folder = base.join("/").replaceAll("**", "*");
  const cwd = from === "/" ? `/${folder}` : `*/${folder.replace(/^\*\//, "")}`;
  // A rule has at most 100 patterns.
  return {
    parts:
      path.length > 100
        ? [{ fn }]
        : [
            { fn, path },
            { fn, folder: [cwd, `${cwd}/*`] },
          ],
    note,
  };
}

/** One `**` is enough where another follows at the end of the pattern. */
function oneDepth(names: readonly string[]): readonly string[] {
  const last = names.lastIndexOf("**");
  return last <= 0 ? names : names.slice(last);
}

/** The condition by which an ALLOW of a project's file holds in that project alone. */
export function onlyIn({ project }: Pick<ListFile, "project">): Pick<RulePart, "args"> {
  return project === null ? {} : { args: { "/cwd": { equals: project } } };
}
