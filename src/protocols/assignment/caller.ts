import { namePeople } from "../../access/name-people.ts";
import type { Context } from "../../context.ts";
import { openTokenBuckets, type TokenBuckets } from "../../lib/token-bucket.ts";
import type { RepoRules } from "../../tasks/model/rules.ts";
import { Refusal } from "../../refusals.ts";
import type { DoorContext, FastifyRequest } from "../http/door.ts";
import { adminOfSession, fromOurPage, keyHolder } from "../http/principals.ts";
import { saysJson } from "../http/guards.ts";
import { repoOf } from "../http/task-input.ts";
import { hasBody } from "./request.ts";

/** The caller that assigns work, and the repository. */
export interface AssignCaller {
  /** As the record names them: a program by its key, or an admin. */
  by: { kind: "agent"; id: string } | { kind: "human"; id: string };
  /** Its key, or the admin's session: a repeat has the same one. */
  credential: string;
  /** The name of its key, as people know it; null for an admin. */
  keyName: string | null;
  /** The reviewer: the person of the key, or the admin; null for a service's key. */
  person: string | null;
  repo: RepoRules;
}

type Speaker = Omit<AssignCaller, "repo"> & { repos: readonly string[] | null };

const PER_MINUTE = { changes: 600, reads: 1200 } as const;

/**
 * Returns who speaks, if its key gives work in the repository that the path names, or in the default one; it counts as one
 * request. An admin's own session does as well, in every repository: that is how the console gives work. There is no open
 * mode here, because a task runs code.
 *
 * @throws {Refusal} `key_required`, `scope_missing`, `origin_refused`, `unsupported_media_type`, `rate_limited`,
 *   `repo_not_found`, `repo_refused`
 */
export async function callerOf(door: DoorContext, http: FastifyRequest): Promise<AssignCaller> {
  const { repos, ...speaker } = (await signedInAdmin(door, http)) ?? (await keyedCaller(door, http));
  const kind = http.method === "GET" || http.method === "HEAD" ? "reads" : "changes";
  if (!turnsOf(door.ctx)[kind].take(speaker.credential)) {
    throw new Refusal("rate_limited", { limit: PER_MINUTE[kind], window_seconds: 60, retry_after: 1 });
  }
  const repo = repoOf(door, (http.params as { repo?: string }).repo);
  if (repos && !repos.includes(repo.name)) throw new Refusal("repo_refused", { repo: repo.name });
  return { ...speaker, repo };
}

/** A session speaks for pages of ours alone, in JSON: this door takes pages of listed origins and bodies of any type. */
async function signedInAdmin(door: DoorContext, http: FastifyRequest): Promise<Speaker | undefined> {
  const by = await adminOfSession(door, http);
  if (by && http.headers.origin !== undefined && !fromOurPage(door, http)) throw new Refusal("origin_refused");
  if (by && hasBody(http) && !saysJson(http.facts.bodyType)) {
    throw new Refusal("unsupported_media_type", { accepted: ["application/json"] });
  }
  return by && { by, credential: `${by.kind}:${by.id}`, keyName: null, person: by.id, repos: null };
}

async function keyedCaller(door: DoorContext, http: FastifyRequest): Promise<Speaker> {
  const key = await keyHolder(door, http);
  if ("open" in key) throw new Refusal("key_required");
  if (key.scope !== "assign") throw new Refusal("scope_missing", { scope: "assign" });
  const { keyId, principal, name, person, repos } = key;
  return { by: { kind: "agent", id: principal }, credential: keyId, keyName: name, person, repos };
}

/** Returns what people call somebody who is known here. */
export async function nameOfPerson({ ctx }: DoorContext, person: string): Promise<string> {
  return (await namePeople(ctx, [person])).get(person) ?? person;
}

type Turns = Record<keyof typeof PER_MINUTE, TokenBuckets>;

/** The requests of each key and admin, counted on this node. */
const turns = new WeakMap<Context, Turns>();

function turnsOf(ctx: Context): Turns {
  const bucketsOf = (most: number) => openTokenBuckets(ctx.clock, { perSecond: most / 60, burst: most });
  const known = turns.get(ctx) ?? { changes: bucketsOf(PER_MINUTE.changes), reads: bucketsOf(PER_MINUTE.reads) };
  turns.set(ctx, known);
  return known;
}
