import { pathToFileURL } from "node:url";

/** One swap, as a process gets it. */
export interface PlantedText {
  /** The source file. */
  url: string;
  find: string;
  put: string;
  /** A file that is made once the swap has happened. */
  mark: string;
}

const HOOK = new URL("plant-hook.ts", import.meta.url).href;
const NAME = "TEST_PLANT";

/** Returns what a process, and every process it starts in turn, has to find in its environment. */
export function environmentWith(plant: Omit<PlantedText, "url"> & { path: string }): Record<string, string> {
  const { path, ...rest } = plant;
  return {
    [NAME]: JSON.stringify({ url: pathToFileURL(path).href, ...rest }),
    NODE_OPTIONS: [process.env["NODE_OPTIONS"], `--import=${HOOK}`].filter(Boolean).join(" "),
  };
}

/**
 * Returns what a harness hands on to the servers it starts, so that a planted bug reaches them whatever else of the
 * environment they are given.
 */
export function plantedEnvironment(): Record<string, string> {
  const { NODE_OPTIONS, [NAME]: plant } = process.env;
  return plant === undefined ? {} : { [NAME]: plant, NODE_OPTIONS: NODE_OPTIONS ?? "" };
}

/** Returns the swap of this process. */
export function plantFromEnvironment(): PlantedText | null {
  const text = process.env[NAME];
  return text === undefined ? null : (JSON.parse(text) as PlantedText);
}
