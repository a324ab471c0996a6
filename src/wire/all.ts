/** Loads every schema that has an id. */
import "./ask.ts";
import "./error.ts";
import "./job.ts";
import "./new-ask.ts";
import "./participant.ts";
import "./question.ts";
import "./subscription.ts";
