import { printableJson } from "../../../lib/printable.ts";
import type { Request } from "../../../requests/model/request.ts";
import { indented } from "../../../requests/model/view.ts";
import type { WireArgumentRow } from "../../../wire/inbox.ts";
import { argumentRows } from "../inbox/arguments.ts";
import { argumentsMarkup } from "../links/arguments.ts";
import { askMarkup, type LinkForm } from "../links/view.ts";

/** A view of a request that may be large. */
export type Drawing =
  | { is: "ask"; request: Request; ticked?: LinkForm["values"] | undefined }
  | { is: "arguments" | "rows"; request: Pick<Request, "wire">; kwargs: string }
  | { is: "editor"; kwargs: string };

/** The member of the same name as the drawing's kind; markup as its text. */
export interface Drawn {
  ask?: string;
  arguments?: string;
  rows?: WireArgumentRow[];
  editor?: string;
}

/** Draws a view, by time in proportion to the characters of the request. */
export function draw(drawing: Drawing): Drawn {
  switch (drawing.is) {
    case "ask":
      return { ask: askMarkup(drawing.request, drawing.ticked).text };
    case "arguments":
      return { arguments: argumentsMarkup(argumentRows(drawing.request, drawing.kwargs)).text };
    case "rows":
      return { rows: argumentRows(drawing.request, drawing.kwargs) };
    case "editor":
      return { editor: printableJson(indented(drawing.kwargs)) };
  }
}
