import { execFileSync } from "node:child_process";

/** Runs git as a user who has configured nothing. */
export function gitIn(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: "/nonexistent",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "ana",
      GIT_AUTHOR_EMAIL: "ana@localhost",
      GIT_COMMITTER_NAME: "ana",
      GIT_COMMITTER_EMAIL: "ana@localhost",
    },
  }).trimEnd();
}
