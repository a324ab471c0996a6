import { join } from "node:path";
import { standStill } from "../backup/store/owned-tables.ts";
import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import { openContainedFiles } from "../lib/files/contained-files.ts";
import { openForeignSchemas } from "../lib/json/foreign-schema.ts";
import { idMaker } from "../lib/id.ts";
import { openSecretScan } from "../lib/secrets/secret-scan.ts";
import type { Metrics } from "../protocols/ops/metrics.ts";
import type { Outside } from "./outside.ts";
import { openRequesters } from "./requesters.ts";
import type { Store } from "../core/store/open-store.ts";
import { openAskerBounds } from "../requests/model/asker-bounds.ts";
import { openWaitList } from "../requests/model/open-waits.ts";
import { openReaders } from "../core/store/readers.ts";
import { timedDb } from "../core/store/timed-db.ts";

/** The sources of a context; its other members follow from the settings. */
export interface ContextSources extends Pick<Context, "offer" | "tell" | "stopping"> {
  outside: Outside;
  store: Store;
  metrics: Metrics;
  /** The people of each group, which are read from the store only once there is a context. */
  groups: ReadonlyMap<string, readonly string[]>;
}

/** Opens what every verb, loop and door is given. */
export function openContext(config: Config, sources: ContextSources): Context {
  const { store, metrics, groups } = sources;
  const { clock, random, fetch, log } = sources.outside;
  const owned = {
    newId: idMaker(random, () => clock.now()),
    addressed: { ...config.addressed, groups },
    assignment: config.assignment,
    schemas: openForeignSchemas(),
    secrets: openSecretScan(config.limits),
  };
  return {
    ...owned,
    requesters: openRequesters(owned),
    db: timedDb(store.db, clock, metrics.observeTransaction),
    wake: store.wake,
    keyring: store.keyring,
    clock,
    random,
    fetch,
    log,
    readers: openReaders(clock),
    askerBounds: openAskerBounds(),
    openWaits: openWaitList(),
    standStill,
    crowd: config.crowd.rules,
    conversations: config.conversations,
    relay: config.relayRules,
    offer: sources.offer,
    tell: sources.tell,
    artifacts: openContainedFiles(join(config.dataDir, "artifacts")),
    stopping: sources.stopping,
  };
}
