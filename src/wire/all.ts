/** Loads every schema that has an id. */
import "./a2h-error.ts";
import "./ask.ts";
import "./audit.ts";
import "./channel.ts";
import "./gate.ts";
import "./human.ts";
import "./job.ts";
import "./mcp.ts";
import "./message.ts";
import "./new-request.ts";
import "./request.ts";
import "./server.ts";
import "./webhook.ts";
