import { namePeople } from "../../../access/name-people.ts";
import { printableLines } from "../../../lib/printable.ts";
import { sentenceOf } from "../../../requests/model/sentence.ts";
import { languageOf, type Language } from "../../../requests/model/sentence-words.ts";
import { readPrecedents, type Precedent } from "../../../requests/read/read-precedents.ts";
import { readInInbox } from "../../../requests/read/read-request.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { WirePrecedents } from "../../../wire/precedent.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { wireTime } from "../../http/question.ts";
import { shownName } from "./arguments.ts";
import { byOf } from "./wire.ts";

/** Mounts the earlier decisions about the function of a call. */
export function precedentRoutes(app: Door, door: DoorContext): void {
  app.get<{ Params: { id: string } }>(
    "/people/me/asks/:id/precedents",
    {
      schema: {
        tags: ["inbox"],
        summary: "Earlier decisions on its function, and what differs",
        response: { 200: jsonReply(WirePrecedents), 401: ErrorBody, 404: ErrorBody },
      },
    },
    async (http) => {
      const { ctx } = door;
      const { person } = await signedInPerson(door, http);
      const found = await readPrecedents(ctx, person, await readInInbox(ctx, person, http.params.id));
      const people = found.flatMap(({ outcome: { by } }) => (by?.kind === "person" ? [by.id] : []));
      const names = await namePeople(ctx, people);
      const language = languageOf(http.headers["accept-language"]);
      return { precedents: found.map((one) => precedentBody(one, { person, names, language })) };
    },
  );
}

function precedentBody(
  { call, outcome, approved, changes, more }: Precedent,
  reader: { person: string; names: ReadonlyMap<string, string>; language: Language },
): WirePrecedents["precedents"][number] {
  const { by, comment, edited = false } = outcome;
  return {
    id: call.id,
    sentence: sentenceOf(call, reader.language),
    approved,
    edited,
    by: by ? byOf(by, reader.names) : null,
    mine: by?.kind === "person" && by.id === reader.person,
    at: wireTime(call.settledAt ?? call.createdAt),
    comment: comment === undefined ? null : printableLines(comment).join("\n"),
    changes: changes.map(({ name, words, ...change }) => ({
      name: shownName(name),
      ...change,
      words: words && [...words],
    })),
    more,
  };
}
