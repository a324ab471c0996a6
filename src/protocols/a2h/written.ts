import type { Request, RequestForm, ResponseOption } from "../../requests/model/request.ts";
import { callIdOf, TOOL_DOOR, TOOL_RUN, toolRefOf } from "../http/tool-request.ts";

/** The door of the requests that are made here. */
export const DOOR = "a2h";

/** The three kinds of request, as their refs begin. */
export type RefKind = "call" | "contact" | "message";

/** The stored form of each kind of request. Requests made by a tool are stored in the same way (spec/mcp 4). */
const FORMS = { call: "approval", contact: "reply", message: "value" } as const satisfies Record<
  RefKind,
  RequestForm["kind"]
>;

/** Returns how requests of a kind are called in the store, this protocol's own first. */
export const refsOf = (kind: RefKind, id: string): string[] => [`${kind}:${id}`, toolRefOf(id)];

/** Returns what tells the requests of a kind, in a listing, from all others. */
export const selectionOf = (kind: RefKind): { refStart: string; form?: RequestForm["kind"] }[] => [
  { refStart: `${kind}:` },
  { refStart: toolRefOf(""), form: FORMS[kind] },
];

/** True for a request of a kind, whether it was made here or by a tool; other doors' requests are nobody's here. */
export function isOfKind({ door, ref, form }: Request, kind: RefKind): boolean {
  if (door === TOOL_DOOR) return form.kind === FORMS[kind];
  return door === DOOR && ref.startsWith(`${kind}:`);
}

/** A request as its asker wrote it; `spec` is JSON text. */
interface Written {
  run_id: string;
  /** The request's id; for a message, its uid. */
  id: string;
  spec: string;
}

/** Returns a request as its asker wrote it, and one made by a tool as it would have been written here. */
export function writtenOf(request: Request): Written {
  const { wire, door } = request;
  if (door === TOOL_DOOR) return { run_id: TOOL_RUN, id: callIdOf(request), spec: specOf(request) };
  const { run_id, call_id, uid, spec } = wire as Readonly<Record<string, string>>;
  return { run_id: run_id ?? "", id: call_id ?? uid ?? "", spec: spec ?? "" };
}

function specOf({ form, words }: Request): string {
  switch (form.kind) {
    case "approval": {
      // The arguments stand in it digit for digit.
      const options =
        form.rejectOptions.length > 0 ? `,"reject_options":${JSON.stringify(form.rejectOptions.map(asSent))}` : "";
      return `{"fn":${JSON.stringify(form.fn)},"kwargs":${form.kwargs}${options}}`;
    }
    case "reply":
      return JSON.stringify({
        msg: words,
        ...(form.options.length > 0 && { response_options: form.options.map(asSent) }),
      });
    case "value":
      return JSON.stringify({ message: words, ...(form.schema !== null && { response_schema: form.schema }) });
  }
}

/** A tool takes no more of an option than this. */
const asSent = ({ name, title, description }: ResponseOption) => ({ name, title, description });
