import { openContainedFiles, NoSuchPlace, type ContainedFiles } from "../../lib/files/contained-files.ts";
import { isInTree, pathFromTree } from "../../tasks/model/action.ts";
import { RpcError } from "./rpc.ts";

/** The protocol's own code and words. */
export const NOT_FOUND = -32002;
const REFUSED = -32602;
const MOST_BYTES = 10_485_760;

/** Files as an agent reads and writes them through its client: in the tree alone, and through no link. */
export interface TreeFiles {
  /** @throws {RpcError} */
  read(path: string, from: { line?: number | undefined; limit?: number | undefined }): Promise<string>;
  /** @throws {RpcError} */
  write(path: string, text: string): Promise<void>;
}

/** Opens the files of a tree that the agent knows by one path, and this process by another. */
export function openTreeFiles(tree: string, treeOutside: string): TreeFiles {
  const files = openContainedFiles(treeOutside);
  const steps = (path: string): string[] => {
    const inside = pathFromTree(path, tree);
    if (!isInTree(inside) || inside === ".") throw new RpcError(REFUSED, "The path is not a file of the tree.");
    return inside.replace(/^\.\//, "").split("/");
  };
  return {
    async read(path, { line = 1, limit }) {
      const text = await found(readText(files, steps(path)));
      if (line <= 1 && limit === undefined) return text;
      const lines = text.split("\n").slice(Math.max(0, line - 1));
      return (limit === undefined ? lines : lines.slice(0, limit)).join("\n");
    },
    write: (path, text) => found(files.overwrite(steps(path), new TextEncoder().encode(text))),
  };
}

async function readText(files: ContainedFiles, steps: readonly string[]): Promise<string> {
  const { file, size } = await files.open(steps);
  try {
    if (size > MOST_BYTES) throw new RpcError(REFUSED, "The file is too long to be read this way.");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

async function found<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NoSuchPlace) throw new RpcError(NOT_FOUND, "Resource not found");
    throw error;
  }
}
