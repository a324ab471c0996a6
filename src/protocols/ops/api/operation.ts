/** A JSON Schema, or a piece of one. */
export type Schema = Readonly<Record<string, unknown>>;

/** The facts about a route that the document adds to the route's own schemas. */
export interface Operation {
  /** Its name: unique, and kept for ever, because generated clients call their functions so. */
  id: string;
  /** The name of the schema of its body. */
  body?: string;
  /** The success reply: the name of a schema, or the media type of a reply that is not JSON. */
  reply?: string;
  /** Another type that the same reply is sent in, to whoever asks for it. */
  also?: string;
  /** Fields of its query that it reads by itself, by name. */
  query?: readonly string[];
}

export type Operations = Readonly<Record<string, Operation>>;

export const text = (description?: string): Schema => ({ type: "string", ...(description && { description }) });
export const time: Schema = { type: "string", format: "date-time" };
export const integer: Schema = { type: "integer" };
export const named = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const oneOf = (...words: readonly string[]): Schema => ({ type: "string", enum: words });
