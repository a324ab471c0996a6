import { open, rename } from "node:fs/promises";

let count = 0;

/** The file holds the text, whole and on disk, and only its owner can read it; whoever looks meanwhile finds the old one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.${(count += 1)}.new`;
  const file = await open(fresh, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}
