import { loopErrors } from "../core/loops/errors.ts";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import { startLoop, type Loop } from "../lib/loop.ts";
import { uuidV7 } from "../lib/uuid.ts";
import { openAssign } from "../tasks/loops/assign.ts";
import type { DoorWork } from "../protocols/http/door.ts";
import { readPatch } from "../tasks/open-bundle.ts";
import { slugOf } from "../tasks/model/names.ts";
import { lockForServer } from "../core/store/server-lock.ts";
import { openWorkshop } from "../workshop/open-workshop.ts";
import { makeFolder, writeWhole } from "../lib/files/durable-files.ts";

const AGAIN_AFTER_MS = 1000;

/** The workshop that gives coding agents work on this machine. */
export interface ServerWorkshop {
  work: DoorWork;
  /** Notes for the operator; resolves once the machine has been examined. */
  notices(): Promise<string[]>;
  start(): Loop;
  /**
   * Stops starting attempts. Resolves once no attempt is at work, or, with `kill`, once every process of them is gone.
   */
  drain(how: { kill: boolean }): Promise<void>;
  /** Resolves when every attempt is left; the agents go on. */
  leave(): Promise<void>;
}

/** Opens the workshop of a server whose settings name a repository. */
export async function openServerWorkshop(
  ctx: Context,
  config: Config,
  serverUrl: () => string,
): Promise<ServerWorkshop> {
  const rules = config.assignment;
  const newSessionId = () => uuidV7(ctx.clock.now(), ctx.random);
  makeFolder(rules.workDir, 0o700);
  const lock = rules.repos.some(({ path }) => path !== null) ? lockFolder(rules.workDir) : null;
  const holder = `workshop:${await ownName(rules.workDir, newSessionId)}`;
  const workshop = openWorkshop({
    rules,
    dataDir: config.dataDir,
    serverUrl,
    env: process.env,
    newSessionId,
  });
  const assign = openAssign(ctx, rules, { workshop, holder });

  return {
    work: {
      async diff(work, against) {
        const isHere = rules.repos.some(({ name, path }) => name === work.repo && path !== null);
        return isHere ? workshop.diff(work, against) : readPatch(ctx, work.repo, work.id);
      },
      tree: ({ repo, id, generation }) => workshop.tree({ repo, slug: slugOf(id), generation }),
      readiness(agent) {
        const found = workshop.readiness(agent);
        return "why" in found ? { ready: false, why: found.why } : { ready: true, why: null };
      },
      sandboxNotice: () => workshop.sandboxNotice(),
    },
    async notices() {
      await workshop.opened;
      const trouble = workshop.trouble();
      const notice = workshop.sandboxNotice();
      return [
        ...(trouble === null ? [] : [`Agent Assignment is off: ${trouble}`]),
        ...(notice === null ? [] : [notice]),
      ];
    },
    start: () =>
      startLoop((signal) => assign.step(signal), {
        clock: ctx.clock,
        idleMs: AGAIN_AFTER_MS,
        onError: loopErrors(ctx, "assign"),
      }),
    drain: (how) => assign.drain(how),
    async leave() {
      await assign.leave();
      lock?.release();
    },
  };
}

/** Attempts of a folder are one server's, also where several share a database. @throws {Error} one sentence */
function lockFolder(workDir: string): { release(): void } {
  try {
    return lockForServer(join(workDir, "workshop.lock"));
  } catch (cause) {
    const says = `Another Parley server gives agents work in ${workDir}; set assignment.work_dir to another folder.`;
    throw new Error(says, { cause });
  }
}

/** The name by which this workshop knows its own attempts again after a restart. */
async function ownName(workDir: string, newName: () => string): Promise<string> {
  const file = join(workDir, "name");
  const known = await readFile(file, "utf8").catch(() => null);
  if (known?.trim()) return known.trim();
  const name = newName();
  await writeWhole(file, `${name}\n`);
  return name;
}
