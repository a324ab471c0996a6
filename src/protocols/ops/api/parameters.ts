import { integer, oneOf, type Schema, text, time } from "./operation.ts";

interface Parameter {
  /** The name in the address, where two different parameters share it. */
  name?: string;
  schema: Schema;
  description: string;
}

const count = (description: string, least = 0): Parameter => ({ schema: { ...integer, minimum: least }, description });
const words = (description: string): Parameter => ({ schema: text(), description });

/** The fields of queries that routes read by themselves. */
export const PARAMETERS: Readonly<Record<string, Parameter>> = {
  action: words("What was done"),
  admin_view: {
    name: "view",
    schema: oneOf("admin"),
    description: "Everybody's, for an admin: with an admin's key or session",
  },
  after: count("The number of the last event or answer that is known"),
  after_seq: count("Entries after this number"),
  after_uid: { ...words("The last one that is known"), name: "after" },
  against: { schema: oneOf("start", "base"), description: "What the patch is against" },
  agent: words("The name of an agent"),
  all: { schema: oneOf("true", "false"), description: "Also what is acknowledged" },
  ask_id: words("The id of an ask"),
  ask_type: words("The type of an ask"),
  attempt: count("The number of an attempt", 1),
  audience: words("Kinds of people, with commas between"),
  audit_limit: { ...count("At most so many", 1), name: "limit" },
  before_seq: count("Entries before this number, the newest first", 1),
  call_id: words("The id of a call"),
  cursor: words("Where the page before ended"),
  deep: { schema: oneOf("true", "false"), description: "Ask the channels themselves, too" },
  delivery_state: { name: "state", schema: oneOf("pending", "delivered", "dead"), description: "How far it is" },
  expand: { schema: oneOf("meta"), description: "Says which answer came when, and from what kind of participant" },
  id: words("The id of a task"),
  ids: words("Ids, with commas between"),
  job_state: { ...words("States, with commas between"), name: "state" },
  kind: words("The kind of a job"),
  limit: count("At most so many", 1),
  offset: count("How many to leave out"),
  period: { schema: oneOf("daily", "weekly", "all_time"), description: "Of what time" },
  q: words("Words to look for"),
  since_time: { name: "since", schema: time, description: "From this time on" },
  status: words("States, with commas between"),
  until_time: { name: "until", schema: time, description: "Until this time" },
  view: { schema: oneOf("agent", "admin"), description: "As whom to look; an admin's needs an admin's key" },
  wait: { schema: { type: "string", pattern: "^\\d+(\\.\\d+)?(ms|s|m)?$" }, description: "So many seconds it is held" },
};
