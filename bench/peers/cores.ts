import { execFileSync } from "node:child_process";

/** The cores of a run: one for every server, one for the load. */
export interface Cores {
  server: number;
  load: number;
}

/**
 * Keeps this process to the second core, and returns the cores of the run. Returns nothing, with nothing changed, where
 * there is no `taskset` or no second core.
 */
export function divideCores(): Cores | null {
  const cores = { server: 0, load: 1 };
  try {
    execFileSync("taskset", ["-c", String(cores.server), "true"], { stdio: "ignore" });
    keepTo(cores.load, process.pid);
    return cores;
  } catch {
    return null;
  }
}

/** Keeps a process, with all of its threads and whatever it starts from now on, to one core. @throws where it cannot */
export function keepTo(core: number, pid: number): void {
  execFileSync("taskset", ["-a", "-c", "-p", String(core), String(pid)], { stdio: "ignore" });
}
