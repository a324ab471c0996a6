import { refuseFields } from "../core/model/field-problem.ts";
import { type Actor, appendAudit } from "../core/store/audit.ts";
import { transact } from "../core/store/transact.ts";
import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { identifyForRead, welcome } from "./identify.ts";
import { type LeaderboardName, readLeaderboardName } from "./model/leaderboard-name.ts";
import type { Caller } from "./model/participant.ts";
import { banLeaderboardName, chooseLeaderboardName, dropLeaderboardName } from "./store/leaderboard-names.ts";
import { sightParticipant } from "./store/participants.ts";

/**
 * Shows the caller under this name on the leaderboard, in place of an earlier one (spec/ask-a-human 4.7). Returns the
 * name as it is shown, and the participant whose credential the reply carries, if any.
 *
 * @throws {Refusal} `invalid_input`, `name_taken`, `rate_limited`
 */
export async function chooseName(
  ctx: Context,
  caller: Caller,
  text: string,
): Promise<{ name: string; issue: string | null }> {
  const chosen = readName(text);
  return transact(ctx, async (tx) => {
    const { identity, issue } = await welcome(ctx, tx, caller);
    await sightParticipant(tx, identity.person);
    if (!(await chooseLeaderboardName(tx, identity.person, chosen))) throw new Refusal("name_taken");
    return { name: chosen.name, issue };
  });
}

/** Shows the caller without a name again. */
export async function dropName(ctx: Context, caller: Caller): Promise<void> {
  const identity = await identifyForRead(ctx, caller);
  if (identity) await transact(ctx, (tx) => dropLeaderboardName(tx, identity.person));
}

/**
 * Takes a name off the leaderboard for good: its person is shown without one, and nobody can choose it again.
 *
 * @throws {Refusal} `name_not_found`, `invalid_input`
 */
export async function banName(ctx: Context, text: string, by: Actor): Promise<void> {
  const { name, key } = readName(text);
  await transact(ctx, async (tx) => {
    if (!(await banLeaderboardName(tx, key))) throw new Refusal("name_not_found");
    await appendAudit(tx, { actor: by, action: "leaderboard_name.removed", data: { name } });
  });
}

function readName(text: string): LeaderboardName {
  const read = readLeaderboardName(text);
  if ("constraint" in read) throw refuseFields([read]);
  return read;
}
