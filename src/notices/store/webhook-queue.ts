import { one, type Queryable } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

export interface WebhookQueue {
  waiting: number;
  /** Endpoints whose last try failed. */
  failingEndpoints: number;
}

export function countWebhooks(on: Queryable): Promise<WebhookQueue> {
  return one<WebhookQueue>(
    on,
    sql`SELECT (SELECT count(*) FROM webhook_events WHERE state = 'pending') AS waiting,
      (SELECT count(*) FROM webhook_endpoints WHERE enabled = 1 AND failing_since IS NOT NULL) AS "failingEndpoints"`,
  );
}
