import { constants } from "node:fs";
import { open, realpath, rename, rm, stat } from "node:fs/promises";

/**
 * The file holds the new text, whole and on disk, and never a part of it: it is written beside it and takes its place.
 * It keeps its permissions, and stays a link where it is one.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const place = await realpath(path);
  const mode = (await stat(place)).mode & 0o777;
  const fresh = `${place}.${process.pid}.new`;
  const file = await open(fresh, constants.O_CREAT | constants.O_TRUNC | constants.O_WRONLY, mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await rename(fresh, place);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
