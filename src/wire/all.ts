/** Loads every schema that has an id. */
import "./admin-relay.ts";
import "./ask.ts";
import "./cached-decision.ts";
import "./conversation.ts";
import "./inbox.ts";
import "./job.ts";
import "./key.ts";
import "./person.ts";
import "./policy.ts";
import "./receipt.ts";
import "./server-state.ts";
import "./session.ts";
