/** Loads every schema that has an id. */
import "./ask.ts";
import "./error.ts";
import "./job.ts";
import "./task-bodies.ts";
import "./task.ts";
import "./work.ts";
