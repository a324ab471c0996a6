/**
 * `node scripts/ready.mjs [--run] FILE ...` makes the checkout ready, as `setup.mjs` does, and then runs FILE with the
 * Node of the checkout, which may be another one than this. Plain JavaScript, for it runs before there are packages.
 */
import { spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
const setup = [join(ROOT, "scripts", "setup.mjs"), ...(args[0] === "--run" ? [args.shift()] : [])];
const { status } = spawnSync(process.execPath, setup, { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

const path = `${join(ROOT, "node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}`;
// Windows starts the Node of a package by a file that only a shell runs.
const child = spawn("node", args, {
  stdio: "inherit",
  shell: process.platform === "win32",
  env: { ...process.env, PATH: path },
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
