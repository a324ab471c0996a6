/** A text that is the id of one noun. A text from outside is taken for it; the id of another noun is refused. */
type IdOf<Noun extends string> = string & { readonly idOf?: Noun };

/** The id of a question to the crowd. */
export type QuestionId = IdOf<"question">;

/** The id of a request to named people. */
export type RequestId = IdOf<"request">;

/** The id of an executor's ask. */
export type AskId = IdOf<"ask">;
