/** An ask that one of those who may decide it hands on to another of them (docs/how-to/inbox.md). */
import { z } from "zod";
import { text } from "./fields.ts";

const note = z.string().nullable().describe("The words of the person who handed it on");
const at = z.string().describe("When it was handed on");

export const handedBy = z
  .object({ id: z.string().describe("The person, to whom it can be handed back"), name: z.string(), note, at })
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
    people: z
      .array(
        z
          .object({ id: z.string(), name: z.string() })
          .meta({ id: "Receiver", description: "Somebody who may decide it." }),
      )
      .describe("By name, without myself"),
    groups: z.array(z.string()).describe("Groups in which somebody else may decide it"),
  })
  .meta({ id: "Receivers", description: "To whom an ask can be handed on: those who may decide it." });
export type WireReceivers = z.output<typeof WireReceivers>;
