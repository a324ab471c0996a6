import { checkRows, type Check } from "./check.ts";
import { sql } from "./sql.ts";

const QUICK_ROWS = 10_000;

const STREAMS_WITH_HOLES = sql`SELECT s.id AS offender FROM streams s
  WHERE s.seq - s.kept_from + 1 <> (SELECT count(*) FROM events e WHERE e.stream = s.id AND e.seq BETWEEN s.kept_from AND s.seq)
    OR EXISTS (SELECT 1 FROM events e WHERE e.stream = s.id AND e.seq > s.seq)`;

/** Each of the newest events follows the one before it, and none is beyond its stream's last number. */
const NEWEST_EVENTS_WITH_HOLES = sql`SELECT DISTINCT e.stream AS offender
  FROM (SELECT stream, seq FROM events ORDER BY at DESC LIMIT ${QUICK_ROWS}) AS e LEFT JOIN streams s ON s.id = e.stream
  WHERE s.id IS NULL OR e.seq > s.seq
    OR NOT EXISTS (SELECT 1 FROM events newest WHERE newest.stream = e.stream AND newest.seq = s.seq)
    OR e.seq > s.kept_from AND NOT EXISTS (SELECT 1 FROM events p WHERE p.stream = e.stream AND p.seq = e.seq - 1)`;

/** The invariants of streams. */
export const CORE_CHECKS: readonly Check[] = [
  checkRows("S1", "the numbers of a stream have no holes above its retention mark", (quick) =>
    quick ? NEWEST_EVENTS_WITH_HOLES : STREAMS_WITH_HOLES,
  ),
];
