/** Returns whether a folder is the root of a disk, or climbs: every file could be called one below it. */
export function isRootOrClimbs(folder: string): boolean {
  const names = folder.split(/[\\/]+/).filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return true;
  return /^(?:[\\/]|[A-Za-z]:)/.test(folder) && names.every((name) => /^[A-Za-z]:$/.test(name));
}
