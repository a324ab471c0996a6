/**
 * The sizes of tests, by what a test needs, and what holds a test to its size. A small test needs its own process alone. A
 * medium one also needs sockets of this computer, PostgreSQL among them. A large one also needs a browser, another
 * program, or the server as another process. The name of a file says small or large before its ending, and that
 * of a medium one says neither.
 */
import childProcess from "node:child_process";
import dgram from "node:dgram";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

export const SIZES = ["small", "medium", "large"];

/** Returns the size that a test file's name says. */
export function sizeOf(file) {
  const [, named] = /\.(small|large)\.test\.ts$/.exec(file) ?? [];
  return named ?? "medium";
}

const PROCESS_STARTS = ["spawnSync", "execSync", "execFileSync"];

/** Every start of a program throws from now on in this process, and for small tests the use of a socket, too. */
export function holdTo(size) {
  if (size !== "small" && size !== "medium") return;
  const refuse = (what) => {
    throw new Error(`A ${size} test ${what}. Name its file *.${size === "small" ? "test" : "large.test"}.ts instead.`);
  };
  const noProcess = (program) => refuse(`starts no program, and this one starts ${String(program)}`);
  // Every asynchronous way to start a program ends here.
  childProcess.ChildProcess.prototype.spawn = (options) => noProcess(options?.file);
  for (const name of PROCESS_STARTS) childProcess[name] = noProcess;
  if (size === "small") {
    const noSocket = () => refuse("opens no socket");
    net.Socket.prototype.connect = noSocket;
    net.Server.prototype.listen = noSocket;
    dgram.createSocket = noSocket;
  }
  syncBuiltinESMExports();
}
