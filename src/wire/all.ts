/** Loads every schema that has an id. */
import "./ask.ts";
import "./conversation.ts";
import "./inbox.ts";
import "./job.ts";
import "./receipt.ts";
import "./session.ts";
