import type { Context } from "../context.ts";
import { beginsAsKey, makeKeyText, type Scope } from "../lib/secrets/key-text.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { LONGEST_KEY_LIFE_MS, SHORTEST_KEY_LIFE_MS } from "./model/key-life.ts";
import { insertKey, type Key } from "./store/keys.ts";
import { findPerson } from "./store/people.ts";
import { transact } from "../core/store/transact.ts";

export interface KeyInput {
  /**
   * The name that the key is issued for. Several keys may share it, so that keys can be changed without losing objects.
   */
  name: string;
  scope: Scope;
  /** The number of the person whose key it is. An `answer` key of a person speaks for that person. */
  person?: string | undefined;
  expiresInMs?: number | undefined;
  /** Lets an `agent` key answer what it asked itself. */
  selfRespond?: boolean | undefined;
  /**
   * The addressee of an `agent` key's requests that name nobody: a human's id, or the name of a configured channel or
   * group.
   */
  channel?: string | undefined;
  /** The one conversation an `agent` key is good for. */
  conversation?: number | undefined;
  /** The repositories an `assign` key is good for; all, where none is named. */
  repos?: readonly string[] | undefined;
}

const CHANNEL = /^([1-9]\d{0,14}|[a-z][a-z0-9_-]{0,63})$/;
/** The form of a repository's name in the settings. */
const REPO = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MOST_REPOS = 100;
/** Visible ASCII, as in `X-Agent-Id`. */
const NAME = /^[\x21-\x7e]{1,128}$/;

/**
 * Makes a key that is good from now on. Its text is returned this once; only its SHA-256 is stored. The record names
 * its maker, where one is given.
 *
 * @throws {Refusal} `invalid_input`, `person_not_found`
 */
export async function createKey(
  ctx: Pick<Context, "db" | "wake" | "random" | "newId">,
  input: KeyInput,
  by?: Actor,
): Promise<{ text: string; key: Key }> {
  return transact(ctx, async (tx) => {
    const made = await createKeyIn(ctx, tx, input);
    if (by) await appendAudit(tx, { actor: by, action: "key.created", data: whatOf(made.key) });
    return made;
  });
}

/** Returns what the record says of a key. */
export function whatOf({ id, scope, name, person, selfRespond, repos }: Key): Readonly<Record<string, unknown>> {
  return {
    key: id,
    scope,
    name,
    ...(person !== null && { person }),
    ...(selfRespond && { self_respond: true }),
    ...(repos && { repos }),
  };
}

/** The same as part of a transaction under way. */
export async function createKeyIn(
  ctx: Pick<Context, "random" | "newId">,
  tx: Tx,
  input: KeyInput,
): Promise<{ text: string; key: Key }> {
  if (!NAME.test(input.name)) throw invalid("name", "A key's name is 1 to 128 visible ASCII characters.");
  if (beginsAsKey(input.name)) throw invalid("name", "A key's name does not begin as a key does.");
  const { expiresInMs: forMs } = input;
  if (forMs !== undefined && !(forMs >= SHORTEST_KEY_LIFE_MS && forMs <= LONGEST_KEY_LIFE_MS)) {
    throw invalid("expires", "A key is good for 60 seconds to 10 years, or until it is revoked.");
  }
  if (input.selfRespond && input.scope !== "agent") {
    throw invalid("self_respond", "Only a key of scope agent asks, so only such a key can answer itself.");
  }
  if (input.channel !== undefined && (input.scope !== "agent" || !CHANNEL.test(input.channel))) {
    throw invalid(
      "channel",
      "A channel is a human's id or the name of a configured channel or group, for keys of scope agent.",
    );
  }
  if (input.channel !== undefined && /^\d/.test(input.channel) && !(await findPerson(tx, input.channel))) {
    throw new Refusal("person_not_found", { person: input.channel });
  }
  const repos = input.repos?.length ? [...new Set(input.repos)] : null;
  if (repos && (input.scope !== "assign" || repos.length > MOST_REPOS || !repos.every((name) => REPO.test(name)))) {
    throw invalid("repos", "Repositories are names of the settings, for keys of scope assign.");
  }
  const person = input.person ?? null;
  if (person !== null && !(await findPerson(tx, person))) throw new Refusal("person_not_found", { person });

  const text = makeKeyText(input.scope, ctx.random);
  const key = await insertKey(tx, {
    id: ctx.newId("key"),
    name: input.name,
    scope: input.scope,
    hash: sha256Hex(text),
    person,
    selfRespond: input.selfRespond ?? false,
    channel: input.channel ?? null,
    conversation: input.conversation ?? null,
    repos,
    forMs: forMs ?? null,
  });
  return { text, key };
}

function invalid(field: string, says: string): Refusal {
  return new Refusal("invalid_input", { field, constraint: "format" }, says);
}
