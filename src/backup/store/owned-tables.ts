import { ACCESS_TABLES } from "../../access/store/tables.ts";
import { RELAY_TABLES } from "../../asks/store/tables.ts";
import { CONVERSATION_TABLES } from "../../conversations/store/tables.ts";
import type { OwnedTables, StillTime } from "../../core/store/owned-tables.ts";
import type { Sql } from "../../core/store/sql.ts";
import { CORE_TABLES } from "../../core/store/tables.ts";
import { GATE_TABLES } from "../../gate/store/tables.ts";
import { NOTICE_TABLES } from "../../notices/store/tables.ts";
import { POLICY_TABLES } from "../../policy/store/tables.ts";
import { QUESTION_TABLES } from "../../questions/store/tables.ts";
import { REQUEST_TABLES } from "../../requests/store/tables.ts";
import { TASK_TABLES } from "../../tasks/store/tables.ts";

/** The tables of every room that has some; each table belongs to one of them. */
export const TABLES_BY_ROOM: Readonly<Record<string, OwnedTables>> = {
  core: CORE_TABLES,
  access: ACCESS_TABLES,
  policy: POLICY_TABLES,
  questions: QUESTION_TABLES,
  requests: REQUEST_TABLES,
  asks: RELAY_TABLES,
  notices: NOTICE_TABLES,
  conversations: CONVERSATION_TABLES,
  gate: GATE_TABLES,
  tasks: TASK_TABLES,
};

export const OWNED_TABLES: readonly OwnedTables[] = Object.values(TABLES_BY_ROOM);

/** Returns the statements of every room that move the deadlines of frozen askers by the time for which they stood still. */
export const standStill = (time: StillTime): Sql[] => OWNED_TABLES.flatMap((tables) => tables.standStill?.(time) ?? []);
