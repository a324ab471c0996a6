import { spawn } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { connect } from "node:net";

/**
 * The attempts of a program to get out. They are passed in the environment, because they do not belong on the command
 * line.
 */
export interface Probes {
  /** Files and folders it should not be able to read. */
  read: Readonly<Record<string, string>>;
  /** Addresses `host:port`, or paths of sockets, that it should not reach. */
  reach: Readonly<Record<string, string>>;
  /** A folder in which it should not be able to write. */
  write: string;
  /** The process that watches over it, and the names of what stands in that one's environment. */
  watcher: number;
  /** A file in the folder it works in that should not grow beyond the limit. */
  grow: string;
}

const TOO_LARGE = 1_073_741_824 + 1;
const WITHIN_MS = 1500;

const probes = JSON.parse(process.env["PROBES"] ?? "{}") as Probes;
const succeeded: string[] = [];
const tried = (name: string, work: () => void): void => {
  try {
    work();
    succeeded.push(name);
  } catch {
    // The expected result.
  }
};

for (const [name, place] of Object.entries(probes.read)) {
  tried(`read ${name}`, () => (statSync(place).isDirectory() ? readdirSync(place) : accessSync(place, constants.R_OK)));
}
tried("write outside", () => writeFileSync(`${probes.write}/planted`, "here I was"));
tried("read the watcher's environment", () => readFileSync(`/proc/${probes.watcher}/environ`));
tried("signal the watcher", () => {
  const comm = readFileSync(`/proc/${probes.watcher}/stat`, "utf8");
  if (!comm.includes(`${probes.watcher} (`)) throw new Error("that is somebody else");
  process.kill(probes.watcher, 0);
});
process.on("SIGXFSZ", () => {});
tried("grow a file without end", () => {
  writeFileSync(probes.grow, "");
  truncateSync(probes.grow, TOO_LARGE);
});
await Promise.all(
  Object.entries(probes.reach).map(async ([name, place]) => {
    if (await isReached(place)) succeeded.push(`reach ${name}`);
  }),
);
const stays = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
stays.unref();
console.log(JSON.stringify(succeeded.sort()));

function isReached(place: string): Promise<boolean> {
  const [, host, port] = /^(.+):(\d+)$/.exec(place) ?? [];
  const socket = host === undefined ? connect({ path: place }) : connect({ host, port: Number(port) });
  socket.setTimeout(WITHIN_MS, () => socket.destroy());
  return new Promise((resolve) => {
    socket.on("connect", () => {
      resolve(true);
      socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(false));
  });
}
