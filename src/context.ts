import type { AskId } from "./core/model/ids.ts";
import type { Logger } from "pino";
import type { Clock } from "./lib/clock.ts";
import type { ContainedFiles } from "./lib/files/contained-files.ts";
import type { ForeignSchemas } from "./lib/json/foreign-schema.ts";
import type { NewId } from "./lib/id.ts";
import type { Keyring } from "./lib/secrets/keyring.ts";
import type { Random } from "./lib/random.ts";
import type { SecretScan } from "./lib/secrets/secret-scan.ts";
import type { AskerBounds } from "./requests/model/asker-bounds.ts";
import type { OpenWaits } from "./requests/model/open-waits.ts";
import type { RequestRules } from "./requests/model/rules.ts";
import type { AssignmentRules } from "./tasks/model/rules.ts";
import type { CrowdRules } from "./questions/model/rules.ts";
import type { ConversationRules } from "./conversations/model/rules.ts";
import type { RelayRules } from "./asks/model/rules.ts";
import type { Requesters } from "./requester.ts";
import type { Db, Fact } from "./core/store/db.ts";
import type { StillTime } from "./core/store/owned-tables.ts";
import type { Readers } from "./core/store/readers.ts";
import type { Sql } from "./core/store/sql.ts";
import type { Wake } from "./core/store/wake.ts";

/** The doors to the outside, and the rules in force. Everything that is not a function of its input comes through here. */
export interface Context {
  db: Db;
  clock: Clock;
  newId: NewId;
  random: Random;
  fetch: typeof globalThis.fetch;
  log: Logger;
  wake: Wake;
  keyring: Keyring;
  /** The viewers of each open question, as far as this node knows. */
  readers: Readers;
  /** The most that each asker can have asked, as far as this process knows. */
  askerBounds: AskerBounds;
  /** The requests for which somebody waits at this process. */
  openWaits: OpenWaits;
  crowd: CrowdRules;
  addressed: RequestRules;
  conversations: ConversationRules;
  relay: RelayRules;
  assignment: AssignmentRules;
  /** The requesters, and how each acts on a decision. */
  requesters: Requesters;
  /** Returns the statements of every room that move the deadlines of frozen askers. */
  standStill: (time: StillTime) => readonly Sql[];
  /** Notifies the module that answers executors on this node of a new ask; a hint, as wake-ups are. */
  offer: (askId: AskId) => void;
  /** Passes on what this server has committed to the module that watches it. */
  tell: (fact: Fact) => void;
  /** Judges values by schemas that agents wrote. */
  schemas: ForeignSchemas;
  /** Looks for secrets in what would be stored or shown. */
  secrets: SecretScan;
  /** The files that jobs leave behind. */
  artifacts: ContainedFiles;
  /** Aborted when the server is to stop: waiters answer with what they have, streams end. */
  stopping: AbortSignal;
}
