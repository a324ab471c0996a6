import { languageOf, type Language } from "../../../requests/model/sentence-words.ts";
import { z } from "zod";
import type { Context } from "../../../context.ts";
import { printable, printableLines } from "../../../lib/printable.ts";
import { agentName } from "../../../requests/model/view.ts";
import { readCallOutcomes } from "../../../requests/outcome/read-outcomes.ts";
import type { Request } from "../../../requests/model/request.ts";
import type { EntryPoint } from "../../../conversations/model/entry-point.ts";
import { refuseFields } from "../../../core/model/field-problem.ts";
import { titleOf } from "../../../core/model/title.ts";
import { Refusal } from "../../../refusals.ts";
import { namePeople } from "../../../access/name-people.ts";
import {
  beginInInbox,
  goOnInInbox,
  inboxEntries,
  listOwnConversations,
  readOwnConversation,
  type MessagePosition,
} from "../../../conversations/speak-in-inbox.ts";
import { parseBody } from "../../http/body.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import {
  ConversationMessageBody,
  ConversationStartBody,
  type WireEntryPoint,
  WireOwnConversation,
  WireOwnConversationPage,
} from "../../../wire/conversation.ts";
import { text } from "../../../wire/fields.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { wireTime } from "../../http/question.ts";
import { listedAsks, type WithArguments } from "./wire.ts";
import { idNumber, placeOf } from "../../http/query.ts";
import { isId } from "../../http/ids.ts";
import { ErrorBody } from "../../../wire/error.ts";

const refusals = { 401: ErrorBody, 404: ErrorBody } as const;
const written = { 400: ErrorBody, ...refusals, 403: ErrorBody, 429: ErrorBody } as const;
const Page = z.object({ before: text(1, 120).describe("`next` of the page before.").optional() });
const PAGE = 50;

interface OneConversation {
  Params: { id: string };
}

/** Conversations that a signed-in person begins with agents (spec/a2h 14). */
export function conversationRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));
    beginningRoutes(app, door);
    oneConversationRoutes(app, door);
  };
}

/** All conversations of a person, and beginning another. */
function beginningRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/people/me/conversations",
    {
      schema: {
        tags: ["inbox"],
        summary: "Conversations I have begun, and where I may begin one",
        querystring: Page,
        response: { 200: jsonReply(WireOwnConversationPage), 400: ErrorBody, 401: ErrorBody },
      },
    },
    async (http) => conversationPage(door, http),
  );

  app.post(
    "/people/me/conversations",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Begin a conversation",
        body: ConversationStartBody,
        response: { 201: jsonReply(WireOwnConversation), ...written },
      },
    },
    async (http, reply) => {
      const { person } = await signedInPerson(door, http);
      const { entry_point: entry, text, id } = http.body as ConversationStartBody;
      const number = await beginInInbox(ctx, person, entry, { words: text, id });
      return reply
        .code(201)
        .send(await wholeConversation(ctx, { person, language: languageOf(http.headers["accept-language"]) }, number));
    },
  );
}

/** One conversation: reading it, and saying more. */
function oneConversationRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get<OneConversation>(
    "/people/me/conversations/:id",
    {
      schema: {
        tags: ["inbox"],
        summary: "One conversation: the newest of what was said and asked in it, or what came before",
        querystring: Page,
        response: { 200: jsonReply(WireOwnConversation), 400: ErrorBody, ...refusals },
      },
    },
    async (http) => {
      const { person } = await signedInPerson(door, http);
      const before = placeIn(http);
      if (before && !isId(before.id)) throw noPlace();
      return wholeConversation(
        ctx,
        { person, language: languageOf(http.headers["accept-language"]) },
        numberOf(http),
        before,
      );
    },
  );

  app.post<OneConversation>(
    "/people/me/conversations/:id/messages",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Say more: the answer to the one question that waits, or else a word to the agent",
        body: ConversationMessageBody,
        response: { 200: jsonReply(WireOwnConversation), ...written, 409: ErrorBody },
      },
    },
    async (http) => {
      const { person } = await signedInPerson(door, http);
      const number = numberOf(http);
      const { text, id } = http.body as ConversationMessageBody;
      await goOnInInbox(ctx, person, number, { words: text, id });
      return wholeConversation(ctx, { person, language: languageOf(http.headers["accept-language"]) }, number);
    },
  );
}

/** Returns a conversation of a person's as it is shown: its newest page, or the one before a place. */
async function wholeConversation(
  ctx: Context,
  { person, language }: { person: string; language: Language },
  number: number,
  before?: MessagePosition,
): Promise<WithArguments<WireOwnConversation>> {
  const page = { before, limit: PAGE };
  const { point, agent, lastMessageAt, ...found } = await readOwnConversation(ctx, person, number, page);
  const deciders = found.asks.flatMap(({ outcome }) => (outcome?.by?.kind === "person" ? [outcome.by.id] : []));
  const names = await namePeople(ctx, deciders);
  const callOutcomes = await readCallOutcomes(ctx, found.asks);
  const reader = { names, language, callOutcomes };
  const wordsOf = ({ words }: Request) => ({ words: printableLines(words).join("\n") });
  return {
    id: number,
    agent: printable(agentName(agent)),
    said_at: wireTime(lastMessageAt),
    open: point !== undefined,
    messages: found.messages.map(({ uid, words: text, createdAt, ackedAt }) => ({
      id: uid,
      text: printableLines(text).join("\n"),
      at: wireTime(createdAt),
      taken: ackedAt !== null,
    })),
    asks: await listedAsks(found.asks, reader, wordsOf),
    waiting: await listedAsks(found.waiting, reader, wordsOf),
    next: found.next && `${found.next.at}_${found.next.id}`,
  };
}

/** Returns a page of the conversations that the signed-in person has begun, and where they may begin one. */
async function conversationPage(door: DoorContext, http: FastifyRequest): Promise<WireOwnConversationPage> {
  const { ctx } = door;
  const { person } = await signedInPerson(door, http);
  const place = placeIn(http);
  const number = place && idNumber(place.id);
  if (number === null) throw noPlace();
  const after = place && number !== undefined ? { at: place.at, number } : undefined;
  const found = await listOwnConversations(ctx, person, { after, limit: PAGE });
  return {
    entry_points: inboxEntries(ctx).map(entryOf),
    conversations: found.listed.map(({ conversation, words: newest }) => ({
      id: conversation.number,
      agent: printable(agentName(conversation.agent)),
      title: printable(titleOf(newest)),
      said_at: wireTime(conversation.lastMessageAt),
    })),
    next: found.next && `${found.next.at}_${found.next.number}`,
    count: found.count,
  };
}

function placeIn(http: FastifyRequest): { at: number; id: string } | undefined {
  const { before } = http.query as z.output<typeof Page>;
  if (before === undefined) return undefined;
  const place = placeOf(before, "_");
  if (place) return place;
  throw noPlace();
}

function noPlace(): Refusal {
  return refuseFields([{ message: "before is not a page's next", field: "before", constraint: "format" }]);
}

function entryOf({ name, agent, about }: EntryPoint): WireEntryPoint {
  return { name, agent: printable(agent), about: about === null ? null : printable(about) };
}

/** Returns the conversation's number. @throws {Refusal} `conversation_not_found` for an id that cannot be a number */
function numberOf(http: FastifyRequest<OneConversation>): number {
  const number = idNumber(http.params.id);
  if (number === null) throw new Refusal("conversation_not_found");
  return number;
}
