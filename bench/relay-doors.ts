import { JSON_SHAPES, jsonOf } from "./door-bodies.ts";
import type { DoorScene, Sent } from "./door-scene.ts";
import { KIB, MOST, shapes, textOf, type Door } from "./door.ts";

/** The doors of executors: jobs, what they ask, and what is answered. */
export function relayDoors({ keys, send }: DoorScene): Door[] {
  const headers = keys.executor;
  const post = (path: string, body: unknown): Sent => ({ path, headers, body: jsonOf(body) });
  const newJob = async (job_id: string): Promise<string> => {
    const { status, text } = await send(post("/jobs", { job_id, external: true, spec: {} }));
    if (status !== 201) throw new Error(text);
    return job_id;
  };
  const answer = (value: object, i: number): Sent => ({
    ...post("/answers", { ask_id: `x-${i}`, job_id: "j", step_id: "S-1", ...value }),
    headers: keys.answer,
  });
  return [
    {
      route: "POST /jobs",
      bytes: MOST,
      shapes,
      request: (value, i) => ({ ...post("/jobs", { job_id: `j-${i}`, spec: { value } }), headers: keys.assign }),
    },
    {
      route: "POST /jobs/:id/finish",
      bytes: MOST,
      shapes,
      request: async (value, i) =>
        post(`/jobs/${await newJob(`e-${i}`)}/finish`, { state: "SUCCEEDED", result: { value } }),
    },
    {
      route: "POST /jobs/:id/logs",
      bytes: MOST,
      shapes,
      request: async (value, i) => post(`/jobs/${await newJob(`l-${i}`)}/logs`, { message: "Well", data: { value } }),
    },
    {
      route: "POST /asks",
      bytes: MOST,
      shapes,
      async request(value, i) {
        const context_envelope = { job_snapshot: { value }, role: "default" };
        const ask = { step_id: "S-1", ask_type: "CLARIFICATION", prompt: "Which?", context_envelope, constraints: {} };
        return post("/asks", { job_id: await newJob(`a-${i}`), ...ask });
      },
    },
    {
      route: "POST /answers",
      variant: "error",
      bytes: MOST,
      shapes,
      request: (value, i) => answer({ status: "ERROR", error: textOf(value) }, i),
    },
    {
      route: "POST /answers",
      variant: "answer_json",
      bytes: MOST,
      shapes,
      request: (value, i) => answer({ status: "ANSWERED", answer_json: value }, i),
    },
    {
      route: "PUT /jobs/:id/artifacts/*",
      bytes: 20 * KIB * KIB - 100,
      shapes: { "one text": JSON_SHAPES["one text"] as (bytes: number) => unknown },
      request: async (value, i) => ({
        path: `/jobs/${await newJob(`f-${i}`)}/artifacts/f.txt`,
        method: "PUT",
        headers,
        body: Buffer.from(String(value)),
      }),
    },
  ];
}

/** The doors of tasks. */
export function taskDoors({ keys }: DoorScene): Door[] {
  const bytes = 250 * KIB;
  return [
    {
      route: "POST /assignment",
      bytes,
      shapes,
      request: (value, i) => ({
        path: "/assignment",
        headers: keys.assign,
        body: jsonOf({ id: `t-${i}`, prompt: "Do.", context: value }),
      }),
    },
    {
      route: "POST /assignment/:repo/work/:job",
      bytes,
      shapes,
      request: (value, i) => ({
        path: `/assignment/shop/work/w-${i}`,
        headers: keys.executor,
        body: jsonOf({ say: "wish", ref: "r", wish: { tool: "t", input: { value }, action: "tool", resource: "r" } }),
      }),
    },
  ];
}
