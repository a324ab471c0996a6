import { printableJson } from "../../../lib/printable.ts";
import type { Request } from "../../../requests/model/request.ts";
import { indented } from "../../../requests/model/view.ts";
import { argumentRows } from "../inbox/arguments.ts";
import { argumentsMarkup } from "../links/arguments.ts";
import { askMarkup, type LinkForm } from "../links/view.ts";

/** A view of a request that may be large. */
export type Drawing =
  | { is: "ask"; request: Request; ticked?: LinkForm["values"] | undefined }
  | { is: "arguments" | "rows"; request: Pick<Request, "wire">; kwargs: string }
  | { is: "editor"; kwargs: string };

/** The member of the same name as the drawing's kind: markup as its text, anything else as JSON in UTF-8. */
export interface Drawn {
  ask?: string;
  arguments?: string;
  rows?: Uint8Array<ArrayBuffer>;
  /** With the characters of the text that it is. */
  editor?: { json: Uint8Array<ArrayBuffer>; characters: number };
}

/** Draws a view, by time in proportion to the characters of the request. */
export function draw(drawing: Drawing): Drawn {
  switch (drawing.is) {
    case "ask":
      return { ask: askMarkup(drawing.request, drawing.ticked).text };
    case "arguments":
      return { arguments: argumentsMarkup(argumentRows(drawing.request, drawing.kwargs)).text };
    case "rows":
      return { rows: jsonBytes(argumentRows(drawing.request, drawing.kwargs)) };
    case "editor": {
      const text = printableJson(indented(drawing.kwargs));
      return { editor: { json: jsonBytes(text), characters: text.length } };
    }
  }
}

/** Returns JSON in memory of its own, which one thread may hand to another. */
function jsonBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}
