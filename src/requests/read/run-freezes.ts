import type { Context } from "../../context.ts";
import { auditedAgent } from "../../core/store/audit.ts";
import { listNoted, type Noted } from "../../core/store/noted.ts";
import { covers, type FreezeScope, freezerOf, mayFreeze } from "../../policy/freezes.ts";
import { freezeNotesSince } from "../../policy/store/freezes.ts";
import { hasWaitingAt, listRunAskers, type RunAsker } from "../store/runs.ts";
import type { RunEntry, RunReader, RunSource } from "./run-source.ts";

const DAY_MS = 86_400_000;
const AT_ONCE = 100;

/**
 * Returns the freezes and thaws that covered an asker of the run, from its first request to a day after its newest one.
 * They are for those to whom the inbox showed them: for a freeze of everything all, for admins and the person whose agent
 * it is, and where a request that the person may read waited then.
 */
export async function readRunFreezes(
  ctx: Context,
  reader: RunReader,
  { before, limit }: Parameters<RunSource>[2],
): Promise<RunEntry[]> {
  const askers = await listRunAskers(ctx.db, reader);
  const firstAt = Math.min(...askers.map((asker) => asker.firstAt));
  const lastAt = Math.max(...askers.map((asker) => asker.newestAt)) + DAY_MS;
  let place = before && before.at <= lastAt ? before : { at: lastAt + 1, id: 0 };
  const found: RunEntry[] = [];
  while (askers.length > 0 && found.length < limit) {
    const notes = await listNoted(ctx.db, freezeNotesSince(firstAt), { before: place, limit: AT_ONCE });
    for (const note of notes) {
      place = note;
      if (found.length < limit && (await isShown(ctx, reader, note, askers))) found.push(entryOf(note));
    }
    if (notes.length < AT_ONCE) break;
  }
  return found;
}

async function isShown(ctx: Context, reader: RunReader, note: Noted, askers: readonly RunAsker[]): Promise<boolean> {
  const { scope, person } = note.data as { scope?: FreezeScope["scope"]; person?: string };
  if (scope === undefined) return false;
  const by = await freezerOf(ctx, reader.person, "web");
  for (const { asker, firstAt, newestAt } of askers) {
    if (note.at < firstAt || note.at > newestAt + DAY_MS) continue;
    const isSame = scope !== "agent" || note.agent === auditedAgent(asker);
    const what = { scope, subject: scope === "agent" ? asker : (person ?? "") };
    if (!isSame || !(await covers(ctx.db, what, asker))) continue;
    if (scope === "all" || (await mayFreeze(ctx.db, what, by))) return true;
    if (await hasWaitingAt(ctx.db, reader, asker, note.at)) return true;
  }
  return false;
}

function entryOf({ id, at, actor, via, action, data }: Noted): RunEntry {
  const event = action === "freeze.made" ? "frozen" : "thawed";
  const { reason = null } = data as { reason?: string };
  return { id, at, event, actor, via, request: null, state: null, words: event === "frozen" ? reason : null };
}
