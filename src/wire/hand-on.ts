/** An ask that one of those who may decide it hands on to another of them (docs/how-to/inbox.md). */
import { z } from "zod";
import { text } from "./fields.ts";

const note = z.string().nullable().describe("The words of the person who handed it on");
const awayUntil = z.string().nullable().describe("Until when they are away; null where they are not");
const at = z.string().describe("When it was handed on");

const receiver = z
  .object({ id: z.string(), name: z.string(), away_until: awayUntil })
  .meta({ id: "Receiver", description: "Somebody to whom an ask can be given." });

export const handedBy = z
  .object({
    id: z.string().describe("The person, to whom it can be handed back"),
    name: z.string(),
    note,
    at,
    away_until: awayUntil.describe("Where I stand in for them: until when they are away; null for a hand-on"),
  })
  .meta({ id: "HandedBy", description: "Who handed an ask to me, and with which words." })
  .nullable()
  .describe("Who handed it to me last and has not taken it back; null where nobody has");

export const handedOn = z
  .object({ to: z.string().describe("The name of the person, or of the group"), note, at })
  .meta({ id: "HandedOn", description: "To whom I have handed an ask on." })
  .nullable()
  .describe("To whom I have handed it on; null where I have not");

export const HandOnBody = z
  .object({
    to: z
      .object({
        person: text(1, 100).describe("The `id` of a person who may decide it.").optional(),
        group: text(1, 100).describe("The name of a group with somebody who may decide it.").optional(),
      })
      .describe("One of the two."),
    note: text(0, 1000).describe("Shown to those who receive it.").optional(),
  })
  .meta({ id: "HandOn", description: "To whom an ask is handed on." });
export type HandOnBody = z.output<typeof HandOnBody>;

export const WireHandOn = z
  .object({ id: z.string(), handed_by: handedBy, handed_on: handedOn })
  .meta({ id: "HandedAsk", description: "An ask that was handed on, or taken back." });
export type WireHandOn = z.output<typeof WireHandOn>;

export const WireReceivers = z
  .object({
    people: z.array(receiver).describe("By name, without myself"),
    groups: z.array(z.string()).describe("Groups in which somebody else may decide it"),
  })
  .meta({ id: "Receivers", description: "To whom an ask can be handed on: those who may decide it." });
export type WireReceivers = z.output<typeof WireReceivers>;

export const AwayBody = z
  .object({
    until: z.iso
      .datetime({ offset: true, error: "must be a time such as 2026-11-20T10:00:00Z" })
      .describe("In the future, and at most 366 days away."),
    stand_in: text(1, 100).describe("The `id` of somebody else, who sees what waits for me.").optional(),
  })
  .meta({ id: "Absence", description: "Until when I am away, and who stands in." });
export type AwayBody = z.output<typeof AwayBody>;

export const WireAway = z
  .object({
    from: z.string().nullable().describe("Since when I am away; null where I am not"),
    until: z.string().nullable().describe("Until when; null where I am not"),
    stand_in: receiver.nullable().describe("Who stands in; null where nobody does"),
  })
  .meta({ id: "Away", description: "Whether I am away, until when, and who stands in." });
export type WireAway = z.output<typeof WireAway>;

export const WireStandIns = z
  .object({
    people: z.array(receiver).describe("By name, without myself: who shares a group with me, or sees all asks"),
  })
  .meta({ id: "StandIns", description: "People who may be of use as my stand-in." });
export type WireStandIns = z.output<typeof WireStandIns>;
