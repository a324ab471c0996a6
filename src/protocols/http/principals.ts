import type { FastifyRequest } from "fastify";
import { mayHoldKey } from "../../lib/secrets/key-text.ts";
import { networkOf } from "../../lib/network/network.ts";
import { sameText, sha256Hex } from "../../lib/secrets/keyring.ts";
import type { Caller } from "../../questions/model/participant.ts";
import { isTimeZone } from "../../questions/model/streak.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import { Refusal } from "../../refusals.ts";
import { findKey, isNameOfKey, type KeyIdentity } from "../../access/find-key.ts";
import { findSignedIn } from "../../access/find-signed-in.ts";
import type { AgentIdentity, DoorContext } from "./door.ts";
import { isFromHere, refuseFromElsewhere } from "./reach.ts";

const DAY_MS = 86_400_000;
const KEY_START = "parley_";

/**
 * Returns the agent a request speaks for: the one its key was issued for, whichever of the three carriers holds it, or
 * `open:<name>` while open mode is on (spec/ask-a-human 1.2).
 *
 * @throws {Refusal} `key_required` for a bad or missing key, or two different ones; `passed_on`; `wrong_scope`;
 *   `invalid_input` for a malformed `X-Agent-Id`
 */
export async function agentPrincipal(door: DoorContext, http: FastifyRequest): Promise<string> {
  return (await agentIdentity(door, http)).principal;
}

/** Returns the same agent with what its key says of requests that name nobody. @throws {Refusal} as `agentPrincipal` */
export async function agentIdentity(door: DoorContext, http: FastifyRequest): Promise<AgentIdentity> {
  const { name, keys } = agentCarriers(http);
  const [text, ...others] = keys;
  if (text === undefined) {
    refuseWithoutKey(door, http);
    return { principal: await openPrincipal(door, name), channel: null };
  }
  if (others.some((other) => !sameText(text, other))) throw new Refusal("key_required");
  const key = await admittingKey(door, http, text);
  if (!key) throw new Refusal("key_required");
  // A key of one conversation speaks there and nowhere else.
  if (key.scope !== "agent" || key.conversation !== null) throw new Refusal("wrong_scope");
  return { principal: key.principal, channel: key.channel };
}

/**
 * Returns whoever a request's key stands for, whatever its scope, or the `open:<name>` of a request without one while
 * open mode is on. Only agents' keys may come in another way than as a bearer token. A key of one conversation is good
 * where `bound` says so, and nowhere else.
 *
 * @throws {Refusal} `key_required` for a bad or missing key, or two different ones; `passed_on`; `wrong_scope`;
 *   `invalid_input` for a malformed `X-Agent-Id`
 */
export async function keyHolder(
  door: DoorContext,
  http: FastifyRequest,
  { bound = false } = {},
): Promise<KeyIdentity | { open: string }> {
  const { name, keys } = agentCarriers(http);
  const [text, ...others] = keys;
  if (text === undefined) {
    refuseWithoutKey(door, http);
    return { open: await openPrincipal(door, name) };
  }
  const isOne = others.every((other) => sameText(text, other));
  const key = isOne ? await admittingKey(door, http, text) : null;
  if (!key || (key.scope !== "agent" && http.headers.authorization === undefined)) throw new Refusal("key_required");
  if (key.conversation !== null && !bound) throw new Refusal("wrong_scope");
  return key;
}

/** Returns every principal a request to a human route claims to be, so that no agent answers its own question. */
export async function claimedAgents(
  door: DoorContext,
  http: FastifyRequest,
): Promise<{ names: string[]; withKey: boolean }> {
  const { name, keys } = agentCarriers(http);
  const names: string[] = [];
  let withKey = false;
  if (http.headers["x-agent-id"] !== undefined) names.push(`open:${name}`, `agent:${name}`);
  for (const text of keys) {
    const key = await findKey(door.ctx, text);
    if (key?.scope === "agent") {
      withKey = true;
      names.push(key.principal);
    }
  }
  return { names, withKey };
}

/** Applies the setting `open` to a request without a key. Where it is not set, programs elsewhere are refused. */
function refuseWithoutKey({ config }: DoorContext, http: FastifyRequest): void {
  if (config.open === false) throw new Refusal("key_required");
  if (config.open === undefined) refuseFromElsewhere(config, http);
}

/** Returns what owns the objects of a program without a key. The name of a key is refused: it is then one without a name. */
async function openPrincipal({ ctx }: DoorContext, name: string): Promise<string> {
  return `open:${(await isNameOfKey(ctx, name)) ? NAMELESS : name}`;
}

const NAMELESS = "default";

function agentCarriers(http: FastifyRequest): { name: string; keys: string[] } {
  const keys: string[] = [];
  const { authorization } = http.headers;
  if (authorization !== undefined) keys.push(bearerOf(authorization));
  if (http.facts.pathKey !== undefined) keys.push(http.facts.pathKey);

  const agentId = visibleHeader(http, "x-agent-id", "X-Agent-Id", 128 + KEY_START.length + 64);
  // A key stands behind the name, or alone: whatever begins as one does is never taken for a name.
  const keyAt = agentId.startsWith(KEY_START) ? 0 : agentId.indexOf(`:${KEY_START}`) + 1;
  const carriesKey = keyAt > 0 || agentId.startsWith(KEY_START);
  if (carriesKey) keys.push(agentId.slice(keyAt));
  const name = carriesKey ? agentId.slice(0, Math.max(0, keyAt - 1)) : agentId;
  if (mayHoldKey(name)) throw new Refusal("key_required");
  if (name.length > 128) throw formatRefusal("X-Agent-Id");
  return { name: name === "" ? NAMELESS : name, keys };
}

/** Returns the bearer key. A text that cannot be a key becomes the empty key, so that it is refused and not ignored. */
function bearerOf(authorization: string): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}

/** The caller of a human route, and whether its credential was good. */
export interface HumanCaller {
  caller: Caller;
  /** A session, a bound key, or a participant's valid credential was shown: such callers have limits of their own. */
  credentialed: boolean;
}

/**
 * Returns who is asking, the first of: a signed-in person or bound `answer` key, a participant's credential, a
 * fingerprint, nobody known (spec/ask-a-human 4.1).
 *
 * @throws {Refusal} `key_required` or `passed_on` where the crowd is not public and nobody is signed in; `key_required` for
 *   a bad key; `person_changed` where `X-Person` names somebody else than whoever is signed in
 */
export async function humanCaller(door: DoorContext, http: FastifyRequest): Promise<HumanCaller> {
  const { config } = door;
  await refuseBadPathKey(door, http);
  const named = await namedPerson(door, http);
  const person = named?.person;
  const expectedPerson = http.headers["x-person"];
  if (expectedPerson !== undefined && expectedPerson !== (person ?? "none")) throw new Refusal("person_changed");
  if (person === undefined && !config.crowd.public) refuseFromElsewhere(config, http);

  const participant = presentedParticipant(door, http);
  const fingerprint = visibleHeader(http, "x-fingerprint", "X-Fingerprint", 512);
  if (fingerprint.startsWith(KEY_START)) throw new Refusal("key_required");
  const timeZone = http.headers["x-time-zone"];
  const caller: Caller = {
    network: networkMac(door, http),
    ...(named && { ...named, byKey: http.headers.authorization !== undefined }),
    ...(participant !== undefined && { participant }),
    ...deviceOf(door, http, fingerprint),
    ...(typeof timeZone === "string" && isTimeZone(timeZone) && { timeZone }),
  };
  return { caller, credentialed: person !== undefined || participant !== undefined };
}

/**
 * Returns what stands for the caller's device. On this computer, all that show nothing are one device: a program that
 * leaves its key at home is one participant, and not as many as it sends answers.
 */
function deviceOf(
  { ctx: { keyring }, config }: DoorContext,
  http: FastifyRequest,
  fingerprint: string,
): Pick<Caller, "fingerprint"> {
  if (fingerprint === "" && !isFromHere(config, http)) return {};
  return { fingerprint: keyring.mac("fingerprint", fingerprint) };
}

/** A named person, and whether a key stands for them or their own session. */
export interface SignedIn {
  person: string;
  byKey: boolean;
  /** Hash of the session; left out where a key stands for the person. */
  session?: string;
}

/**
 * Returns who is signed in, or whom a bound `answer` key stands for (spec/security 3).
 *
 * @throws {Refusal} `key_required` for anybody else, `origin_refused` for a change under a cookie that no page of ours asks for
 */
export async function signedInPerson(door: DoorContext, http: FastifyRequest): Promise<SignedIn> {
  await refuseBadPathKey(door, http);
  const named = await namedPerson(door, http);
  if (!named) throw new Refusal("key_required", {}, "Nobody is signed in.");
  const byKey = http.headers.authorization !== undefined;
  return { person: named.person, byKey, ...(!byKey && { session: named.credential }) };
}

/** The administrator, as the record names it: a person with their own session, or an `admin` key. */
export interface Administrator {
  kind: "human" | "admin";
  id: string;
}

/**
 * Returns who administers this server: a signed-in person with the admin role, or the holder of an `admin` key. A key
 * that is shown counts, and no session beside it.
 *
 * @throws {Refusal} `key_required` where nobody is known, `scope_missing` for anybody else, `origin_refused` for a change
 *   under a cookie that no page of ours asks for
 */
export async function administrator(door: DoorContext, http: FastifyRequest): Promise<Administrator> {
  if (showsKey(http)) {
    const key = await keyHolder(door, http);
    if ("open" in key || key.scope !== "admin") throw new Refusal("scope_missing", { scope: "admin" });
    return { kind: "admin", id: key.principal };
  }
  const admin = await adminOfSession(door, http);
  if (!admin) throw new Refusal("key_required", {}, "Nobody is signed in.");
  return admin;
}

/**
 * Returns the admin whose session a request shows; nothing where it shows a key, good or bad, or nobody is signed in.
 *
 * @throws {Refusal} `scope_missing` for a person who is no admin, `origin_refused` for a change that no page of ours asks
 *   for
 */
export async function adminOfSession(
  door: DoorContext,
  http: FastifyRequest,
): Promise<{ kind: "human"; id: string } | undefined> {
  if (showsKey(http)) return undefined;
  const person = await personOfSession(door, http);
  if (!person) return undefined;
  if (person.role !== "admin") throw new Refusal("scope_missing", { scope: "admin" }, "Only admins may do that.");
  return { kind: "human", id: person.id };
}

/** True when a request carries a key, good or bad, in whichever way. */
export function showsKey(http: FastifyRequest): boolean {
  return agentCarriers(http).keys.length > 0;
}

/** Returns who is signed in. @throws {Refusal} `origin_refused` for a change that no page of ours asks for */
export async function personOfSession(
  door: DoorContext,
  http: FastifyRequest,
): Promise<{ id: string; role: "admin" | "member" } | undefined> {
  const token = cookieOf(http, cookieName(door, "parley"));
  if (token === undefined) return undefined;
  const signedIn = await findSignedIn(door.ctx, token);
  if (signedIn) noteShown(http, token);
  if (signedIn && isUnsafe(http) && !fromOurPage(door, http)) throw new Refusal("origin_refused");
  return signedIn?.person;
}

/** Returns who holds a key, which is remembered among what let the request in. */
async function admittingKey(door: DoorContext, http: FastifyRequest, text: string): Promise<KeyIdentity | null> {
  const key = await findKey(door.ctx, text);
  if (key) noteShown(http, text);
  return key;
}

function noteShown({ facts }: FastifyRequest, text: string): void {
  const hash = sha256Hex(text);
  facts.shown ??= [];
  if (!facts.shown.includes(hash)) facts.shown.push(hash);
}

/** Refuses a key in the path that is not an agent's. An agent's key is allowed but has no effect here. */
async function refuseBadPathKey(door: DoorContext, http: FastifyRequest): Promise<void> {
  const { pathKey } = http.facts;
  if (pathKey === undefined) return;
  const key = await admittingKey(door, http, pathKey);
  if (key?.scope !== "agent") throw new Refusal("key_required");
}

/** Returns who speaks, and the SHA-256 of the session or key that says so. */
async function namedPerson(
  door: DoorContext,
  http: FastifyRequest,
): Promise<{ person: string; credential: string } | undefined> {
  const { authorization } = http.headers;
  if (authorization !== undefined) {
    const text = bearerOf(authorization);
    const person = personOfKey(await admittingKey(door, http, text));
    return person === undefined ? undefined : { person, credential: sha256Hex(text) };
  }
  const person = await personOfSession(door, http);
  return person && { person: person.id, credential: sha256Hex(cookieOf(http, cookieName(door, "parley")) ?? "") };
}

/** An `answer` key stands for its person; a service's has none. Agents' keys stand for nobody here. */
function personOfKey(key: KeyIdentity | null): string | undefined {
  if (key?.scope === "agent") return undefined;
  if (key?.scope !== "answer" || key.person === null) throw new Refusal("key_required");
  return key.person;
}

function isUnsafe(http: FastifyRequest): boolean {
  return http.method !== "GET" && http.method !== "HEAD";
}

/** A request under a cookie must come from a page of ours (spec/security 3). */
export function fromOurPage(door: DoorContext, http: FastifyRequest): boolean {
  const site = http.headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const { origin } = http.headers;
  return (
    origin === door.config.publicUrl ||
    (origin !== undefined && URL.canParse(origin) && new URL(origin).host === http.headers.host)
  );
}

/** Returns the name of one of our cookies: with the prefix that binds it to the host wherever the public URL is https. */
export function cookieName(door: Pick<DoorContext, "config">, name: string): string {
  return door.config.publicUrl.startsWith("https:") ? `__Host-${name}` : name;
}

/** Returns the value of a cookie, or nothing. */
export function cookieOf(http: FastifyRequest, name: string): string | undefined {
  for (const pair of http.headers.cookie?.split(";") ?? []) {
    const equals = pair.indexOf("=");
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

const PARTICIPANT_SECONDS = 400 * 86_400;

/** Returns the credential of a participant: `pt1.<id>.<MAC>`. */
export function participantToken(door: DoorContext, participantId: string): string {
  return `pt1.${participantId}.${door.ctx.keyring.mac("participant", `participant:${participantId}`)}`;
}

/** Returns the cookie that carries a participant's credential for 400 days. */
export function participantCookie(door: DoorContext, token: string, maxAgeSeconds = PARTICIPANT_SECONDS): string {
  const secure = door.config.publicUrl.startsWith("https:") ? "; Secure" : "";
  return `${cookieName(door, "parley_p")}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** Returns the participant whose valid credential a request shows, or nothing. */
export function presentedParticipant(door: DoorContext, http: FastifyRequest): string | undefined {
  const header = http.headers["x-participant-token"];
  for (const token of [typeof header === "string" ? header : undefined, cookieOf(http, cookieName(door, "parley_p"))]) {
    const id = token === undefined ? undefined : /^pt1\.(p_[0-9A-Za-z]{1,64})\.[\w-]{43}$/.exec(token)?.[1];
    if (id !== undefined && token !== undefined && sameText(token, participantToken(door, id))) return id;
  }
  return undefined;
}

/** Keyed hash of the caller's network under the day's salt: addresses themselves are never kept. */
function networkMac(door: DoorContext, http: FastifyRequest): string {
  const day = Math.floor(door.ctx.clock.now() / DAY_MS);
  return door.ctx.keyring.mac("network", `${day} ${networkOf(http.ip)}`);
}

/** Keyed hash of the caller's address, under which limits per address are counted. */
export function addressMac(door: DoorContext, http: FastifyRequest): string {
  return door.ctx.keyring.mac("network", `address ${http.ip}`);
}

function visibleHeader(http: FastifyRequest, name: string, spelled: string, maxLength: number): string {
  const value = http.headers[name];
  if (value === undefined || value === "") return "";
  if (typeof value !== "string" || value.length > maxLength || !/^[\x21-\x7e]+$/.test(value))
    throw formatRefusal(spelled);
  return value;
}

function formatRefusal(field: string): Refusal {
  return refuseFields([{ message: `${field} is malformed or too long`, field, constraint: "format" }]);
}
