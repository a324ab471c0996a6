import type { Readable } from "node:stream";
import { Refusal } from "../../refusals.ts";
import { keepArtifact } from "../../asks/jobs/keep-artifact.ts";
import { openArtifact } from "../../asks/jobs/read-artifact.ts";
import { ARTIFACT_LIMITS } from "../../asks/model/artifact-rules.ts";
import type { Door, DoorContext, FastifyRequest } from "../http/door.ts";
import { enter, jobIdOf, JOB_READERS, readerOf, writerOf } from "./job-requests.ts";
import { withAliases } from "../../wire/aliases.ts";
import { WireArtifact } from "../../wire/relay/job.ts";
import { routeOptions } from "./request.ts";
import { statedBytes } from "../http/query.ts";

type Of = { Params: { id: string; "*": string } };

const PATH = "/jobs/:id/artifacts/*";

/** Files that jobs leave (spec/relay 14). They are read as they come, after the credentials. */
export function artifactRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, payload, done) => done(null, payload));

    app.put<Of>(
      PATH,
      routeOptions({
        summary: "Keep a file of a job",
        writes: true,
        reply: WireArtifact,
        replies: { 201: "It is on disk" },
      }),
      async (http, reply) => {
        const caller = await enter(door, http, ["executor", "agent"]);
        const length = statedBytes(http);
        const { fileBytes } = ARTIFACT_LIMITS;
        if (length > fileBytes) throw new Refusal("body_too_large", { max_bytes: fileBytes });
        const { path, size, sha256 } = await keepArtifact(ctx, jobIdOf(http), writerOf(http, caller), {
          path: pathOf(http),
          source: bytesOf(http),
        });
        return reply.code(201).send(withAliases<WireArtifact>({ path, size, sha256 }));
      },
    );

    app.get<Of>(
      PATH,
      routeOptions({ summary: "A file of a job", replies: { 200: "Its bytes" } }),
      async (http, reply) => {
        const caller = await enter(door, http, JOB_READERS);
        const { artifact, file } = await openArtifact(ctx, jobIdOf(http), readerOf(caller), pathOf(http));
        reply
          .type("application/octet-stream")
          .header("content-length", artifact.size)
          .header("content-disposition", `attachment; filename="${artifact.path.split("/").at(-1)}"`)
          .header("x-content-type-options", "nosniff")
          .header("content-security-policy", "sandbox")
          .header("etag", `"${artifact.sha256}"`);
        if (http.method !== "HEAD") return reply.send(file.createReadStream());
        await file.close();
        return reply.send();
      },
    );
  };
}

/**
 * Returns the path of a file as the address has it, decoded once. Routes are found with repeated slashes counted as one
 * and without one at the end; in here each would be an empty segment, which no path has (spec/relay 14).
 */
function pathOf({ raw }: FastifyRequest): string {
  const [, path = ""] = /^(?:\/+[^/?#]+){3}\/([^?#]*)/.exec(raw.url ?? "") ?? [];
  return decodeURIComponent(path);
}

/** Yields a body as it comes; a refusal leaves the connection whole, so that it can be sent. */
async function* bytesOf(http: FastifyRequest): AsyncGenerator<Uint8Array> {
  const body = http.body as Readable | undefined;
  if (!body) return;
  try {
    yield* body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (http.raw.destroyed) throw new Refusal("bad_http");
    throw error;
  } finally {
    // The rest of the body is read and dropped. Otherwise the connection would wait for a reader.
    body.resume();
  }
}
