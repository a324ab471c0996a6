import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { newFolder, parley, post, type Run, serve } from "./program.ts";

export const CALLS = "/humanlayer/v1/function_calls";
/** Limits that nobody meets. */
export const ROOMY = {
  PARLEY_RELAY_REQUESTS_PER_SECOND: "1000000",
  PARLEY_ASK_A_HUMAN_LIMITS_AGENT_READS_PER_HOUR: "1000000",
  PARLEY_ASK_A_HUMAN_LIMITS_QUESTIONS_PER_HOUR: "1000000",
  PARLEY_ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS: "1000000",
  PARLEY_A2H_CREATES_PER_MINUTE: "1000000",
  PARLEY_DELIVERY_MESSAGES_PER_HOUR: "1000000",
  PARLEY_DELIVERY_RECIPIENTS_PER_HOUR: "1000000",
  PARLEY_A2H_PENDING_PER_AGENT: "1000000",
  PARLEY_LIMITS_EDGE_PER_SECOND: "1000000",
};
export const QUESTION = { prompt: "Which label is clearer?", type: "text" };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
export const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** A server, programs with keys, and a job whose files one of them writes. */
export interface Site {
  dataDir: string;
  server: Run & { url: string };
  agent: Record<string, string>;
  job: string;
  put(path: string, body: string): Promise<Response>;
  read(url: string, path: string): Promise<Response>;
}

export async function openSite(more: Record<string, string> = {}): Promise<Site> {
  const dataDir = newFolder();
  const server = await serve(dataDir, { ...ROOMY, ...more });
  const key = async (name: string, scope: string) => {
    const made = await parley(["keys", "create", name, "--scope", scope, "--data-dir", dataDir], more);
    assert.equal(made.code, 0, made.err);
    return bearer(made.out.trim());
  };
  const [agent, planner, executor] = [
    await key("support", "agent"),
    await key("planner", "assign"),
    await key("runner", "executor"),
  ];
  await post(server.url, "/jobs", { kind: "build" }, planner);
  const claimed = await post(server.url, "/jobs/claim", { kinds: ["build"], worker_id: "w", wait: "0" }, executor);
  assert.equal(claimed.status, 200);
  const { job, lease } = (await claimed.json()) as { job: { job_id: string }; lease: { token: string } };
  const at = (url: string, path: string) => `${url}/jobs/${job.job_id}/artifacts/${path}`;
  return {
    dataDir,
    server,
    agent,
    job: job.job_id,
    put: (path, body) =>
      fetch(at(server.url, path), {
        method: "PUT",
        body,
        headers: { ...executor, "parley-lease": lease.token, "content-type": "text/plain" },
      }),
    // The job's owner may read them whoever holds it.
    read: (url, path) => fetch(at(url, path), { headers: planner }),
  };
}

/** Returns every path of a folder with its mode and digest. */
export function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const digest = entry.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "folder";
      return `${path} ${modeOf(path)} ${digest}`;
    })
    .sort();
}

const releasedFile = (name: string) => readFileSync(join(import.meta.dirname, "..", "core", "released-stores", name));

/** Writes the backup that Parley 0.2.0 made of its released store, a tar, into a file. */
export function writeFormerBackup(path: string): void {
  writeFileSync(path, gunzipSync(releasedFile("0.2.0-backup.tar.gz")));
}

/** Writes the database and the key of a released store into a folder. */
export function writeReleasedStore(version: string, dataDir: string): void {
  const { sqlite } = JSON.parse(releasedFile(`${version}.json`).toString()) as { sqlite: { installationKey: string } };
  writeFileSync(join(dataDir, "parley.db"), gunzipSync(releasedFile(`${version}-sqlite.db.gz`)), { mode: 0o600 });
  writeFileSync(join(dataDir, "installation.key"), sqlite.installationKey, { mode: 0o600 });
}
