/** The record of who did what, as it travels (spec/a2h 18). */
import { z } from "zod";
import { wireMoment } from "./time.ts";

export const WireAuditEntry = z
  .object({
    seq: z.int(),
    at: wireMoment,
    actor: z.object({ kind: z.string(), id: z.string() }).describe("Never a name or an address"),
    action: z.string(),
    agent: z.string().optional(),
    ask_id: z.string().optional(),
    call_id: z.string().optional(),
    via: z.string().optional(),
    delivery: z.string().describe("By which message somebody decided").optional(),
    address_mac: z.string().describe("From which address, to whoever holds the installation key").optional(),
    consent_digest: z.string().optional(),
    data_hash: z.string(),
    data: z.record(z.string(), z.unknown()).describe("May be forgotten; the chain covers its hash").optional(),
    prev: z.string(),
    hash: z.string(),
  })
  .meta({ id: "AuditEntry" });
export type WireAuditEntry = z.output<typeof WireAuditEntry>;

export const WireAuditPage = z
  .object({
    items: z.array(WireAuditEntry),
    has_more: z.boolean(),
    head: z.object({ seq: z.int(), hash: z.string() }),
    unsealed: z.int().describe("How many entries no page holds yet"),
  })
  .meta({ id: "AuditPage" });
export type WireAuditPage = z.output<typeof WireAuditPage>;
