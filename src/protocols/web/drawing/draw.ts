import { printableJson } from "../../../lib/printable.ts";
import type { Request } from "../../../requests/model/request.ts";
import { indented } from "../../../requests/model/view.ts";
import { argumentRows } from "../inbox/arguments.ts";
import { evidenceOf } from "../inbox/plan-evidence.ts";
import { argumentsMarkup } from "../links/arguments.ts";
import { askMarkup, type LinkForm } from "../links/view.ts";

/** A view of a request that may be large. */
export type Drawing =
  | { kind: "ask"; request: Request; ticked?: LinkForm["values"] | undefined }
  | { kind: "arguments" | "rows"; request: Pick<Request, "wire">; kwargs: string }
  | { kind: "evidence"; request: Pick<Request, "id" | "wire">; kwargs: string }
  | { kind: "editor"; kwargs: string };

/** Markup, or JSON, in UTF-8 and in memory of its own, which one thread may hand to another. */
export interface Drawn {
  bytes: Uint8Array<ArrayBuffer>;
  /** How long it is before it is JSON. */
  characters: number;
}

/** Draws a view, by time in proportion to the characters of the request. */
export function draw(drawing: Drawing): Drawn {
  switch (drawing.kind) {
    case "ask":
      return drawnText(askMarkup(drawing.request, drawing.ticked).text);
    case "arguments":
      return drawnText(argumentsMarkup(argumentRows(drawing.request, drawing.kwargs)).text);
    case "rows":
      return drawnText(JSON.stringify(argumentRows(drawing.request, drawing.kwargs)));
    case "evidence":
      return drawnText(JSON.stringify(evidenceOf(drawing.request, drawing.kwargs)));
    case "editor": {
      const text = printableJson(indented(drawing.kwargs));
      return { ...drawnText(JSON.stringify(text)), characters: text.length };
    }
  }
}

function drawnText(text: string): Drawn {
  return { bytes: new TextEncoder().encode(text), characters: text.length };
}
