import { connect, type JobOptions, jobPath, PATIENCE_MS } from "./place.ts";
import type { Artifact } from "./wire.ts";
import { persist } from "../persist.ts";

/**
 * The file is on the server's disk under its path in the job, in the place of what was there.
 *
 * @throws {ParleyError} `FENCED`, `JOB_CLOSED`, `JOB_NOT_FOUND`, `VALIDATION_ERROR` for a path, `PAYLOAD_TOO_LARGE`
 */
export async function put(
  path: string,
  content: string | Uint8Array | Blob,
  options: JobOptions = {},
): Promise<Artifact> {
  const { signal } = options;
  const connection = connect(options);
  const place = `${jobPath(options)}/artifacts/${path.split("/").map(encodeURIComponent).join("/")}`;
  const call = { signal, bytes: content as BodyInit, headers: { "content-type": "application/octet-stream" } };
  return persist(() => connection.call<Artifact>("PUT", place, { ...call, timeoutMs: 120_000 }), {
    signal,
    giveUpAt: Date.now() + PATIENCE_MS,
  });
}
