import { systemFolders } from "./program-needs.ts";

/** Where things stand in the jail: the same in every attempt, so that a resumed session finds its folder again. */
export const JAIL = {
  tree: "/parley/tree",
  home: "/parley/home",
  run: "/parley/run",
  program: "/parley/program",
  temporary: "/tmp",
} as const;

/** Caps on what one attempt may take of the machine. */
export const MOST_PROCESSES = 512;
const MOST_FILE_BYTES = 1_073_741_824;

export interface JailFolders {
  tree: string;
  home: string;
  /** Null where no repository is concerned. */
  store: string | null;
  /** The folder of sockets that lead out. */
  run: string;
  /** Files of Parley's own: `etc` and the launcher. */
  furniture: string;
  reads: readonly string[];
}

/**
 * Returns the command line that runs `command` in a jail: its tree and home, the system's folders to read, no network
 * but what the sockets lead to, a process namespace that ends with the process that started it.
 */
export function bwrapLine(
  bwrap: string,
  { tree, home, store, run, furniture, reads }: JailFolders,
  command: readonly string[],
  limits: { prlimit: string | null; marker: readonly [name: string, value: string]; mostProcesses: number },
): [string, ...string[]] {
  const { prlimit, marker, mostProcesses } = limits;
  const read = (path: string, as = path) => ["--ro-bind", path, as];
  return [
    bwrap,
    ...["user", "pid", "ipc", "uts", "net"].map((namespace) => `--unshare-${namespace}`),
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--clearenv",
    "--setenv",
    ...marker,
    ...systemFolders(),
    // Which of several programs a plain name such as awk means is a link in here on some systems.
    ...["/etc/ssl", "/etc/alternatives", "/etc/ld.so.cache"].flatMap((path) => ["--ro-bind-try", path, path]),
    ...["passwd", "group", "hosts"].flatMap((name) => read(`${furniture}/etc/${name}`, `/etc/${name}`)),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    JAIL.temporary,
    ...reads.flatMap((path) => read(path)),
    ...read(`${furniture}/program`, JAIL.program),
    "--bind",
    tree,
    JAIL.tree,
    "--bind",
    home,
    JAIL.home,
    ...(store === null ? [] : read(store)),
    "--bind",
    run,
    JAIL.run,
    "--chdir",
    JAIL.tree,
    "--",
    ...(prlimit === null ? [] : [prlimit, `--nproc=${mostProcesses}`, `--fsize=${MOST_FILE_BYTES}`]),
    ...command,
  ];
}
