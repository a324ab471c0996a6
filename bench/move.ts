/**
 * How long a whole store takes from SQLite to PostgreSQL and back, and through a file: `node bench/move.ts [QUESTIONS]`.
 *
 * The store is made by SQL: that many questions that have expired, with their outcomes. Each command runs as a process of its own, as a person would run it, and its peak of memory is the
 * operating system's.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { freshDatabase } from "../test/support/fresh-database.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const questions = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), "parley-move-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Runs a command and says how long it took, how much memory it had at most, and what it says of the rows. */
async function measured(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const begun = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env["PATH"], HOME: folder, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  let peak = "";
  const look = setInterval(() => {
    try {
      peak = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? peak;
    } catch {
      // It has ended.
    }
  }, 100);
  const [code] = (await once(child, "close")) as [number];
  clearInterval(look);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const holds = /^(Everything holds\.)$/m.exec(out)?.[1] ?? "";
  const rows = /^rows.*$/m.exec(out)?.[0] ?? out;
  console.log(
    `${args[0]}: ${seconds} s, peak ${Math.round(Number(peak) / 1024)} MiB, exit ${code}. ${holds}\n  ${rows}`,
  );
  return rows;
}

async function makeStore(dataDir: string): Promise<void> {
  const made = spawnSync(process.execPath, [MAIN, "people", "add", "Ana Ruiz", "--data-dir", dataDir], {
    env: { PATH: process.env["PATH"], HOME: folder },
  });
  if (made.status !== 0) throw new Error(String(made.stderr));
  // The first start makes the installation key, and seals with it.
  const server = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--data-dir", dataDir], {
    env: { PATH: process.env["PATH"], HOME: folder },
    // It writes a sign-in link and a key there.
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const text of server.stdout) if (String(text).includes("Parley listens")) break;
  server.kill("SIGTERM");
  await once(server, "close");
  const database = new DatabaseSync(join(dataDir, "parley.db"));
  const last = (database.prepare("SELECT last_ms AS last FROM meta").get() as { last: number }).last;
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${questions})
    INSERT INTO questions (ask_id, door, asker, kind, prompt, options, audience, need, n, state, version, held,
      created_at, expires_at, last_answer_at, settled_at, wire)
    SELECT printf('q_%032d', i), 'ask-a-human', 'agent:bench', 'text',
      printf('Which of these labels for step %d of the checkout is clearer to somebody who is in a hurry?', i), NULL,
      '["general"]', 3, 0, 'expired', 2, 0, ${last} - 172800000, ${last} - 172740000, NULL, ${last} - 172740000, '{}'
    FROM n`);
  database.exec(`INSERT INTO outcomes (ask_id, status, principal, source, consent_digest, created_at)
    SELECT ask_id, 'expired', 'clock', 'clock', NULL, settled_at FROM questions WHERE asker = 'agent:bench'`);
  database.close();
}

const dataDir = join(folder, "store");
const begun = performance.now();
await makeStore(dataDir);
console.log(`${questions} questions made in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
const url = await freshDatabase();
const said = [
  await measured(["move", "--data-dir", dataDir], { PARLEY_MOVE_TO: url }),
  await measured(["move", "--data-dir", dataDir, "--to", join(folder, "back")], { DATABASE_URL: url }),
  await measured(["export", join(folder, "all.jsonl"), "--data-dir", join(folder, "back")]),
  await measured(["import", join(folder, "all.jsonl"), "--data-dir", join(folder, "imported")]),
];
const isEqual = new Set(said).size === 1;
console.log(isEqual ? "All four have the same rows." : "THE ROWS DIFFER");
process.exit(isEqual ? 0 : 1);
