/** The keys by which receipts of decisions are checked (spec/security 4). */
import { z } from "zod";

export const WireReceiptKeys = z
  .object({
    keys: z.array(
      z.object({
        kty: z.string(),
        crv: z.string(),
        x: z.string(),
        alg: z.string(),
        use: z.string(),
        kid: z.string(),
        /** Seconds since 1970 from which on a retired key has signed nothing. */
        exp: z.int().optional(),
      }),
    ),
  })
  .meta({ id: "ReceiptKeys" });
export type WireReceiptKeys = z.output<typeof WireReceiptKeys>;
