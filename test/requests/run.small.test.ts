import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TOOL_RUN } from "../../src/protocols/http/tool-request.ts";
import { RUN_ACTIONS, runEventOf, runOf, stateOfNote } from "../../src/requests/model/run.ts";
import type { Request } from "../../src/requests/model/request.ts";

const of = (wire: Request["wire"], asker = "agent:bot") => runOf({ asker, wire });

describe("the run of a request", () => {
  it("is what its asker names so: the same name of another asker is another run", () => {
    assert.equal(of({ run_id: "r-1" }), of({ run_id: "r-1", call_id: "c" }));
    assert.notEqual(of({ run_id: "r-1" }), of({ run_id: "r-2" }));
    assert.notEqual(of({ run_id: "r-1" }), of({ run_id: "r-1" }, "agent:other"));
    assert.notEqual(of({ run_id: 'b","c' }, "a"), of({ run_id: "c" }, 'a","b'));
  });

  it("is none where no run is named, or by a name that a program gives to all its requests", () => {
    for (const wire of [{}, { run_id: "" }, ...[TOOL_RUN, "parley ask", "sdk"].map((run_id) => ({ run_id }))])
      assert.equal(of(wire), null);
  });

  it("of a job is the job, in all its steps", () => {
    const step = (id: string) => of({ job_id: "job_1", run_id: `job_1 / ${id}` }, "executor:e");
    assert.equal(step("a"), step("b"));
    assert.notEqual(step("a"), of({ job_id: "job_2", run_id: "job_2 / a" }, "executor:e"));
  });

  it("of a task is the task: its agents' own requests, those through their jobs, reviews and conflicts", () => {
    const task = { repo: "shop", id: "t-1", attempt: 1 };
    const all = [
      of({ own_task: { ...task, agent: "claude", sandbox: null }, run_id: "session" }, "agent:att_1"),
      of({ own_task: { ...task, attempt: 2, agent: "codex", sandbox: null }, run_id: "other" }, "agent:att_2"),
      of({ task_of_job: { repo: "shop", id: "t-1" }, job_id: "job_1", run_id: "job_1 / s" }, "attempt:claude"),
      of({ ...task, about: "review", run_id: "shop / t-1" }, "attempt:claude"),
      of({ ...task, about: "conflict", run_id: "shop / t-1" }, "assignment:parley"),
    ];
    assert.equal(new Set(all).size, 1);
    assert.notEqual(all[0], of({ ...task, id: "t-2", about: "review" }));
  });
});

describe("an entry of a run", () => {
  it("has a kind for each action that is read, and a call of a plan has those after its approval alone", () => {
    for (const action of RUN_ACTIONS.ofRequest) assert.ok(runEventOf({ action }));
    assert.ok(RUN_ACTIONS.ofPlannedCall.every((action) => ["started", "outcome"].includes(runEventOf({ action }))));
    assert.throws(() => runEventOf({ action: "function_call.handed_on" }));
  });

  it("tells the state that its note tells, and none where the details are forgotten", () => {
    const state = (action: string, data = {}) => stateOfNote({ action, data });
    assert.equal(state("function_call.outcome", { state: "withdrawn" }), "withdrawn");
    assert.equal(state("function_call.outcome"), null);
    assert.equal(state("gate_call.ended", { outcome: "error" }), "failed");
    assert.equal(state("gate_call.ended", { outcome: "ok" }), "done");
    assert.equal(state("gate_call.unknown"), "unknown");
    assert.equal(state("gate_call.dropped"), "not_run");
  });
});
