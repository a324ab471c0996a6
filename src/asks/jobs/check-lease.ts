import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { Refusal } from "../../refusals.ts";
import type { JobAt } from "../store/jobs.ts";

/** Returns the refusal of whoever holds a job no longer. */
export function fenced({ job }: JobAt): Refusal {
  return new Refusal("fenced", { epoch: job.epoch, state: job.state });
}

/**
 * Returns whether a token is the lease of a job's present epoch. Its hash is stored for as long as that epoch lasts, so
 * the one comparison fences both; a lease that has just run out is good until it is taken away, which gives the job a new
 * number. The job is held.
 */
function holdsLease({ leaseHash }: JobAt, token: string | undefined): boolean {
  return leaseHash !== null && token !== undefined && leaseHash === sha256Hex(token);
}

/** Checks that the token is the one that holds the job's lease. @throws {Refusal} `fenced` */
export function checkLease(held: JobAt, token: string | undefined): void {
  if (!holdsLease(held, token)) throw fenced(held);
}
