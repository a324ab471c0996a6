import { hostname } from "node:os";

/** Returns the name by which an operator knows a server: servers of one name read one file. */
export function serverName(policyFile: string): string {
  return `${hostname()}, ${policyFile}`;
}
