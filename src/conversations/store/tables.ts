import { type OwnedTables, sealedColumn } from "../../core/store/owned-tables.ts";
import { sealedFor } from "../model/sealed-key.ts";

export const CONVERSATION_TABLES: OwnedTables = {
  names: ["conversation_messages", "conversation_threads", "conversations"],
  atRestore: { conversation_messages: "stays", conversation_threads: "stays", conversations: "stays" },
  sealed: [sealedColumn("conversations", "number", "sealed_key", (number) => sealedFor(Number(number)))],
  ownSentences: ["conversation_messages.raw"],
  targets: ["conversations.target"],
  followed: [{ from: "conversations", by: "number", to: "conversation_messages", column: "conversation" }],
};
