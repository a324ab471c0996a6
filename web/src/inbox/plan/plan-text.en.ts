/** The words of the inbox for a plan of several calls. */
import { count, number } from "../../format.ts";
import type { Evidence } from "../wire.ts";

const approve = (n: number, of: number): string => {
  if (n === of) return `Approve ${count(n, "call", "calls")}`;
  return n === 1 ? `Approve the first of ${number(of)}` : `Approve the first ${number(n)} of ${number(of)}`;
};
const from = (place: number, of: number): string =>
  place === of ? `call ${number(place)}` : `calls ${number(place)} to ${number(of)}`;

export const text = {
  calls: "Calls, in this order",
  evidence: "Evidence",
  evidenceLead: (agent: string) => `Shown by ${agent}. A program chose it; nobody has checked it.`,
  kinds: { markdown: "Text", diff: "Diff", table: "Table", link: "Link", image: "Image" } satisfies Record<
    Evidence["kind"],
    string
  >,
  image: (n: number) => `Image, number ${number(n)} of the evidence, without a title`,
  arguments: (place: number) => `Arguments of call ${number(place)}`,
  risky: (n: number, places: string) => `${count(n, "call has", "calls have")} a high risk: ${places}`,
  takeOut: "Take out from here",
  takeOutOf: (place: number, of: number) => `Take out from here: ${from(place, of)}`,
  putBack: "Put back",
  putBackOf: (place: number, of: number) => `Put back: ${from(place, of)}`,
  out: "Taken out",
  tookOut: (place: number, of: number) => `Taken out: ${from(place, of)}.`,
  isBack: (of: number) => `All ${count(of, "call is", "calls are")} in again.`,
  allOut: "Every call is taken out, which rejects the plan.",
  approve,
  approveTitle: (n: number, of: number) => `${approve(n, of)}?`,
  rejectTitle: (of: number) => `Reject ${count(of, "call", "calls")}?`,
  approveLead: (agent: string) => `${agent} may run each of them once, in this order, with the arguments shown.`,
  rejectLead: "None of the calls will run.",
  rejects: (place: number, of: number) => `Rejected by it: ${from(place, of)}.`,
  grave: (n: number) => `Among them ${count(n, "call", "calls")} of high risk:`,
  more: (n: number) => `and ${number(n)} more`,
  approved: (n: number, of: number) =>
    n === of
      ? `Approved: ${count(n, "call", "calls")}, all of them.`
      : `Approved: the first ${number(n)} of ${number(of)} calls.`,
  noneApproved: (of: number) => `Approved: none of ${count(of, "call", "calls")}.`,
};

export type PlanTexts = typeof text;
