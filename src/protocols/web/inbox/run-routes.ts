import { z } from "zod";
import { namePeople } from "../../../access/name-people.ts";
import { refuseFields } from "../../../core/model/field-problem.ts";
import { printableLines } from "../../../lib/printable.ts";
import type { DecidedBy, Request } from "../../../requests/model/request.ts";
import { sentenceOf } from "../../../requests/model/sentence.ts";
import { languageOf, type Language } from "../../../requests/model/sentence-words.ts";
import { askerName, shownTitle } from "../../../requests/model/view.ts";
import { readRun, type RunPage } from "../../../requests/read/read-run.ts";
import type { RunPlace } from "../../../requests/read/run-source.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { text } from "../../../wire/fields.ts";
import { WireRun, type WireRunEntry } from "../../../wire/run.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { MOST_WHOLE, queryText, wholeNumber } from "../../http/query.ts";
import { wireTime } from "../../http/question.ts";
import { byOf } from "./wire.ts";

const USUAL = 50;
const MOST = 100;
/** So much of somebody's words stands in a line, in code points; the card has all of them. */
const MOST_WORDS = 300;

const Page = z.object({
  before: text(1, 60).describe("`next` of the page before, or the `id` of an entry.").optional(),
  limit: text(1, 3).describe("From 1 to 100; 50 without it.").optional(),
});

/** Mounts the timeline of the run that an ask is part of. */
export function runRoutes(app: Door, door: DoorContext): void {
  app.get<{ Params: { id: string } }>(
    "/people/me/asks/:id/run",
    {
      schema: {
        tags: ["inbox"],
        summary: "Everything of the run or task of its agent, as I may read it",
        querystring: Page,
        response: { 200: jsonReply(WireRun), 400: ErrorBody, 401: ErrorBody, 404: ErrorBody },
      },
    },
    async (http): Promise<WireRun> => {
      const { ctx } = door;
      const { person } = await signedInPerson(door, http);
      const at = { before: readPlace(queryText(http.query, "before")), limit: limitOf(queryText(http.query, "limit")) };
      const { entries, next } = await readRun(ctx, { person, requestId: http.params.id }, at);
      const names = await namePeople(
        ctx,
        entries.flatMap(({ actor }) => (actor.kind === "human" ? [actor.id] : [])),
      );
      const reader = { person, names, language: languageOf(http.headers["accept-language"]) };
      return {
        entries: entries.map((entry) => entryBody(entry, reader)),
        next: next && placeText(next),
      };
    },
  );
}

const placeText = ({ at, source, id }: RunPlace): string => `${at}_${source}_${id}`;

/** @throws {Refusal} `invalid_input` for text that is no place */
function readPlace(before: string | undefined): RunPlace | undefined {
  if (before === undefined) return undefined;
  const [at, source, id, ...more] = before.split("_").map((part) => wholeNumber(part, { min: 0, max: MOST_WHOLE }));
  if (at == null || source == null || id == null || more.length > 0) {
    throw refuseFields([{ message: "before is not a page's next", field: "before", constraint: "format" }]);
  }
  return { at, source, id };
}

/** @throws {Refusal} `invalid_input` */
function limitOf(given: string | undefined): number {
  const limit = given === undefined ? USUAL : wholeNumber(given, { min: 1, max: MOST });
  if (limit !== null) return limit;
  throw refuseFields([{ message: `limit must be from 1 to ${MOST}`, field: "limit", constraint: "range" }]);
}

function entryBody(
  { place, at, event, actor, via, request, state, words }: RunPage["entries"][number],
  reader: { person: string; names: ReadonlyMap<string, string>; language: Language },
): WireRunEntry {
  return {
    id: placeText(place),
    at: wireTime(at),
    kind: event,
    by: byBody({ actor, via }, request, reader.names),
    mine: actor.kind === "human" && actor.id === reader.person,
    ask: request && askBody(request, reader.language),
    state,
    text: words === null ? null : shortened(printableLines(words).join("\n")),
  };
}

function askBody(request: Request, language: Language): NonNullable<WireRunEntry["ask"]> {
  const { id, plan, form } = request;
  const title = form.kind === "approval" ? sentenceOf(request, language) : shownTitle(request);
  return { id: plan ?? id, kind: form.kind, agent: askerName(request), title };
}

/** The deciders of a card, who are known to it by the same names; the clock, a server and an admin's key have none. */
function byBody(
  { actor, via }: Pick<RunPage["entries"][number], "actor" | "via">,
  request: Request | null,
  names: ReadonlyMap<string, string>,
): WireRunEntry["by"] {
  const { id } = actor;
  const way = (via ?? "api") as DecidedBy["via"];
  if (actor.kind === "agent" && request) return { kind: "agent", name: askerName(request), via: way };
  if (actor.kind === "human") return byOf({ kind: "person", id, via: way }, names);
  const { kind } = actor;
  return kind === "address" || kind === "policy" ? byOf({ kind, id, via: way }, names) : null;
}

function shortened(words: string): string {
  const all = [...words];
  return all.length <= MOST_WORDS ? words : `${all.slice(0, MOST_WORDS - 1).join("")}…`;
}
