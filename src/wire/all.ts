/** Loads every schema that has an id. */
import "./ask.ts";
import "./job.ts";
