import type { Row } from "../backup/model/export-lines.ts";
import { OWNED_TABLES } from "../backup/store/owned-tables.ts";
import { readTables, type Table } from "../backup/store/tables.ts";
import type { Context } from "../context.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import type { Db, Tx } from "../core/store/db.ts";
import { raw } from "../core/store/sql.ts";
import { INBOX_TOPIC } from "../core/store/wake.ts";
import { type DataSubject, findCalled } from "../access/store/data-subjects.ts";
import { lockHumans } from "../access/store/humans.ts";
import { Refusal } from "../refusals.ts";
import { removeFrom, rerouteFrom } from "../requests/end/remove-human.ts";
import { lockRequest } from "../requests/store/requests.ts";
import { besideArguments, eraser, formsOf, type Identifiers, pseudonymOf, withoutErased } from "./model/identifiers.ts";
import { listOpenAt } from "../requests/store/person-rows.ts";
import { forgetPerson, listReached } from "./store/person.ts";
import { listRowsWith, readRow, updateRow, type SearchedWords } from "./store/traces.ts";

export interface Erasure {
  id: string;
  name: string;
  pseudonym: string;
  addresses: number;
  /** How many rows of each table were changed beside what is known of the person alone. */
  rows: Readonly<Record<string, number>>;
  /** Requests whose arguments, which a digest covers, name the person still: agents wrote them. */
  argumentsKept: readonly string[];
  /** Somebody else has the same name: where the name stands alone it may mean them, and was left. */
  isNameShared: boolean;
}

const OWN_SENTENCES = new Set(OWNED_TABLES.flatMap(({ ownSentences = [] }) => ownSentences));
const TARGETS = new Set(OWNED_TABLES.flatMap(({ targets = [] }) => targets));
const NEVER_CHANGED = new Set(OWNED_TABLES.flatMap(({ unchanging = [] }) => unchanging));

class OnlyTried extends Error {
  readonly erasure: Erasure;
  constructor(erasure: Erasure) {
    super("nothing was erased");
    this.erasure = erasure;
  }
}

/**
 * Nothing in the store names the person any more, or says how to reach them: what they decided is a pseudonym's. They
 * are removed first where they are still here, so that what only they were asked waits for everybody who sees all there
 * is. All of it commits as one transaction, or, with `dryRun`, nothing does.
 *
 * @throws {Refusal} `person_not_found`; `invalid_input` for the person who runs the server, and where several have the name
 */
export async function erasePerson(
  ctx: Pick<Context, "wake"> & { db: Db },
  called: string,
  { by, dryRun }: { by: Actor; dryRun: boolean },
): Promise<Erasure> {
  try {
    const { value, topics } = await ctx.db.transact(
      async (tx) => {
        const erasure = await eraseIn(tx, called, by);
        if (dryRun) throw new OnlyTried(erasure);
        return erasure;
      },
      { isLong: true },
    );
    ctx.wake.publish(topics);
    return value;
  } catch (error) {
    if (error instanceof OnlyTried) return error.erasure;
    throw error;
  }
}

/** Returns the one person of this number or name. @throws {Refusal} `person_not_found`, `invalid_input` */
export async function findSubject(on: Pick<Tx, "all" | "dialect">, called: string): Promise<DataSubject> {
  const [found, ...more] = await findCalled(on, called);
  if (!found) throw new Refusal("person_not_found", { person: called });
  if (more.length === 0) return found;
  const numbers = [found, ...more].map(({ id }) => id).join(", ");
  throw new Refusal(
    "invalid_input",
    { loc: ["name"] },
    `Several people have this name: say which by number: ${numbers}.`,
  );
}

async function eraseIn(tx: Tx, called: string, by: Actor): Promise<Erasure> {
  // SQLite overwrites the space that it frees with zeros, while this connection lasts.
  if (tx.dialect === "sqlite") await tx.all(raw("PRAGMA secure_delete = ON"));
  await lockHumans(tx);
  const { id, name, isOperator, hasLeft } = await findSubject(tx, called);
  if (isOperator) throw new Refusal("invalid_input", { loc: ["name"] }, "Whoever runs this server cannot be erased.");
  const pseudonym = pseudonymOf(id);
  const addresses = await listAddresses(tx, id);
  const isNameShared = (await findCalled(tx, name)).length > 1;
  const known: Identifiers = { name: isNameShared || name === pseudonym ? null : name, pseudonym, addresses };

  await rerouteWhatWaits(tx, { id, addresses, by });
  if (!hasLeft) await removeFrom(tx, { person: id }, by);
  await forgetPerson(tx, { id, pseudonym, phones: addresses.filter((address) => address.startsWith("+")) });
  const { rows, argumentsKept } = await eraseTraces(tx, known);
  await appendAudit(tx, { actor: by, action: "human.erased", data: { person: id } });
  tx.wake(INBOX_TOPIC);
  return { id, name, pseudonym, addresses: addresses.length, rows, argumentsKept, isNameShared };
}

/** Returns every address of the person, also such as messages went to before it was changed. */
export async function listAddresses(on: Pick<Tx, "all" | "dialect">, person: string): Promise<string[]> {
  const { identities, targets } = await listReached(on, person);
  const reached = targets.flatMap((target) => {
    const parsed = JSON.parse(target) as { via?: string; kind?: string; to?: unknown; value?: unknown } | null;
    const address = parsed?.kind === undefined ? parsed?.to : parsed.value;
    return typeof address === "string" && parsed?.via !== "webhook" ? [address] : [];
  });
  return [...new Set([...identities, ...reached])].filter(isOnesOwn).sort((one, other) => other.length - one.length);
}

/** A channel of Slack is not one person's. */
const isOnesOwn = (address: string): boolean => address.length > 3 && !/^[CGD][A-Z0-9]{5,}$/.test(address);

async function rerouteWhatWaits(
  tx: Tx,
  { id, addresses, by }: { id: string; addresses: readonly string[]; by: Actor },
): Promise<void> {
  for (const requestId of await listOpenAt(tx, addresses)) {
    const held = await lockRequest(tx, requestId);
    if (held?.request.state === "open")
      await rerouteFrom(tx, held.request, { person: id, addresses: new Set(addresses) }, by);
  }
}

async function eraseTraces(tx: Tx, known: Identifiers): Promise<Pick<Erasure, "rows" | "argumentsKept">> {
  const wanted: SearchedWords = {
    anyCase: known.addresses.flatMap(formsOf).map((form) => form.toLowerCase()),
    exact: known.name === null ? [] : [...new Set([known.name, JSON.stringify(known.name).slice(1, -1)])],
  };
  const erase = eraser(known);
  const rows: Record<string, number> = {};
  const argumentsKept: string[] = [];
  for (const table of await readTables(tx)) {
    for (const key of await listRowsWith(tx, table, wanted)) {
      const row = await readRow(tx, table, key);
      if (!row) continue;
      const values = erasedValues(table, row, erase);
      if (Object.keys(values).length > 0) {
        await updateRow(tx, { table, key, values });
        rows[table.name] = (rows[table.name] ?? 0) + 1;
      }
      if (table.name === "requests" && namesInArguments(row, erase)) argumentsKept.push(String(row["ask_id"]));
    }
  }
  return { rows, argumentsKept };
}

type Erase = ReturnType<typeof eraser>;

/** Returns the columns of a row that name the person, each as it is to be. */
function erasedValues(table: Table, row: Row, erase: Erase): Row {
  const values: Record<string, string | null> = {};
  for (const [column, value] of Object.entries(row)) {
    const place = `${table.name}.${column}`;
    if (typeof value !== "string" || NEVER_CHANGED.has(place)) continue;
    const text = erasedText(place, value, { row, erase });
    // The chain covers a hash of the data, and an entry whose data is forgotten is whole.
    if (text !== value) values[column] = place === "audit.data" ? null : text;
  }
  return values;
}

function erasedText(place: string, value: string, { row, erase }: { row: Row; erase: Erase }): string {
  const change = (text: string) => erase(text, OWN_SENTENCES.has(place));
  const isDigested = place.startsWith("requests.") && row["digest"] !== null;
  const text = isDigested ? besideArguments(value, change) : change(value);
  return TARGETS.has(place) && text !== value ? withoutErased(text) : text;
}

function namesInArguments(row: Row, erase: Erase): boolean {
  if (row["digest"] === null) return false;
  return ["form", "outcome"].some((column) => {
    const json = row[column];
    if (typeof json !== "string") return false;
    const beside = besideArguments(json, (text) => erase(text, false));
    return erase(beside, false) !== beside;
  });
}
