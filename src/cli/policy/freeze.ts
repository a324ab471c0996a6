import { findPeopleCalled } from "../../access/find-people-called.ts";
import { standStill } from "../../backup/store/owned-tables.ts";
import { localTime } from "../../lib/local-time.ts";
import { printable } from "../../lib/printable.ts";
import {
  freeze as freezeVerb,
  readFreezes,
  thaw as thawVerb,
  type FreezeActor,
  type FreezeScope,
} from "../../policy/freezes.ts";
import { findPrincipal, type Freeze } from "../../policy/store/freezes.ts";
import { WrongUsage } from "../arguments.ts";
import { COMMAND_LINE, type CommandContext, withStore } from "../command-store.ts";
import { command, EXIT, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { print, table, utcText } from "../print.ts";

/** The store is open to its operator, who may do what an admin may. */
const BY: FreezeActor = { actor: { kind: "server", id: COMMAND_LINE.id }, via: "cli", isAdmin: true };

const WHOM = {
  "[AGENT]": "the name of its key, or a principal such as open:shop-bot",
  "--person NAME": "the agents of this person, by the number of parley people list, or the name",
  "--all": "everything that asks here",
} as const;

export const freeze = command({
  takes: {
    ...WHOM,
    "--reason TEXT": "why, which people who approve then read",
    "--list": "list what is frozen, and freeze nothing",
    ...JSON_FLAG,
    ...STORE_FLAGS,
  },
  example: 'parley freeze shop-bot --reason "it pays everybody"',
  async run({ agent, person, all, reason, list, json, ...place }, io) {
    if (list) {
      const freezes = await withStore(place, io, (ctx) => readFreezes(ctx));
      const rows = freezes.map((one) => [
        one.id,
        whom(one),
        localTime(one.madeAt),
        printable(one.madeBy),
        printable(one.reason ?? "-"),
      ]);
      return print(json, freezes.map(wireOf), table(["FREEZE", "WHOM", "SINCE", "BY", "REASON"], rows), io);
    }
    const made = await withStore(place, io, async (ctx) =>
      freezeVerb({ ...ctx, standStill }, await scopeOf(ctx, { agent, person, all }), { ...BY, reason }),
    );
    io.tell(`${whom(made)}: frozen since ${localTime(made.madeAt)}. Thaw it with: parley thaw ${wordsOf(made)}`);
    return json ? print(json, wireOf(made), [], io) : EXIT.done;
  },
});

export const thaw = command({
  takes: { ...WHOM, ...STORE_FLAGS },
  example: "parley thaw shop-bot",
  async run({ agent, person, all, ...place }, io) {
    const ended = await withStore(place, io, async (ctx) => {
      const { scope, subject } = await scopeOf(ctx, { agent, person, all });
      const found = (await readFreezes(ctx)).find((one) => one.scope === scope && one.subject === subject);
      if (!found) throw new WrongUsage("that is not frozen; parley freeze --list shows what is");
      return thawVerb({ ...ctx, standStill }, found.id, BY);
    });
    io.tell(`${whom(ended)}: thawed. Deadlines go on with the time that was left.`);
    return EXIT.done;
  },
});

async function scopeOf(
  { db }: Pick<CommandContext, "db">,
  { agent, person, all }: { agent: string | undefined; person: string | undefined; all: boolean },
): Promise<FreezeScope> {
  if ([agent !== undefined, person !== undefined, all].filter(Boolean).length !== 1)
    throw new WrongUsage("name one of AGENT, --person NAME and --all");
  if (agent !== undefined) {
    const subject = await findPrincipal(db, agent);
    if (subject === undefined)
      throw new WrongUsage("AGENT must be the name of a key, or a principal such as open:shop-bot");
    return { scope: "agent", subject };
  }
  if (person === undefined) return { scope: "all", subject: "" };
  const [found, another] = await findPeopleCalled(db, person);
  if (!found || another)
    throw new WrongUsage("--person must be the number or the name of one person; see parley people list");
  return { scope: "person", subject: found.person };
}

const whom = ({ scope, subject }: Pick<Freeze, "scope" | "subject">): string =>
  scope === "all" ? "everything" : scope === "agent" ? printable(subject) : `agents of ${printable(subject)}`;

const wordsOf = ({ scope, subject }: Freeze): string =>
  scope === "all" ? "--all" : scope === "agent" ? printable(subject) : "--person NAME";

const wireOf = ({ id, scope, subject, madeBy, via, reason, madeAt }: Freeze) => ({
  id,
  scope,
  agent: scope === "agent" ? subject : null,
  person: scope === "person" ? subject : null,
  by: madeBy,
  via,
  reason,
  at: utcText(madeAt),
});
