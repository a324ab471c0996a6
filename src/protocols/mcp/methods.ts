import { Refusal } from "../../refusals.ts";
import { noteInquiriesTold } from "../../requests/inbox/inquire.ts";
import { withoutNulls } from "../http/body.ts";
import { refusalFrom } from "../http/errors.ts";
import { approve } from "./approve.ts";
import { askHuman } from "./ask-human.ts";
import type { Exchange } from "./exchange.ts";
import { isObject } from "./message.ts";
import { discoverResult, initializeResult, listResult } from "./opening.ts";
import { peopleResult } from "./people-result.ts";
import { parkWait, resultOfPeople } from "./people-wait.ts";
import { contactHuman, isCallId, listPeople, readOwnRequest } from "./people.ts";
import { answerAskedBack } from "./inquiries.ts";
import { reportToolOutcome } from "./outcomes.ts";
import { requestApproval, useApprovedCall } from "./plans.ts";
import {
  chargeRead,
  checkResponses,
  holdForResponses,
  holdSecondsOf,
  readHandle,
  readWaitInput,
  waitResult,
  type HeldWait,
} from "./responses.ts";
import { membersOf, RPC, RpcError, type RpcResult } from "./rpc.ts";
import { declaresTasks } from "./task-shape.ts";
import { taskMethod, waitAsTask } from "./tasks.ts";
import { refusedResult } from "./tool-result.ts";
import { APPROVE_TOOL, TOOLS, type ToolName } from "./tools.ts";

/** Returns what a request's result says. @throws {RpcError} */
export async function resultOf(exchange: Exchange, hold: HeldWait): Promise<RpcResult> {
  const { call } = exchange;
  switch (call.isModern ? `modern ${call.method}` : call.method) {
    case "initialize":
      return membersOf(initializeResult(call.params["protocolVersion"]));
    case "ping":
      return "";
    case "modern server/discover":
      return membersOf(discoverResult());
    case "tools/list":
    case "modern tools/list":
      return membersOf(listResult(call.isModern));
    case "tools/call":
    case "modern tools/call":
      return callTool(exchange, hold);
    case "modern tasks/get":
    case "modern tasks/cancel":
    case "modern tasks/update":
      return taskMethod(exchange).catch((error: unknown) => {
        throw limitAsError(exchange, error);
      });
    default:
      throw new RpcError(RPC.methodNotFound, "Method not found", { status: call.isModern ? 404 : 200, id: call.id });
  }
}

/** Returns a tool's result; what it declines is a result too, which the model reads. @throws {RpcError} */
async function callTool(exchange: Exchange, hold: HeldWait): Promise<RpcResult> {
  const { name } = exchange.call.params;
  const given = exchange.call.params["arguments"] ?? {};
  const tool = TOOLS.find((one) => one.name === name)?.name;
  if (tool === undefined) throw new RpcError(RPC.invalidParams, "Unknown tool", { id: exchange.call.id });
  // A permission prompt is answered whatever is wrong with it: with no.
  if (tool === APPROVE_TOOL) return approve(exchange, isObject(given) ? withoutNulls(given) : {}, hold);
  try {
    if (!isObject(given)) {
      throw new Refusal("body_not_object", { field: "arguments", constraint: "type" }, "arguments must be an object");
    }
    return await runTool(exchange, tool, withoutNulls(given), hold);
  } catch (error) {
    const refusal = refusalFrom(error);
    if (refusal) return refusedResult(refusal);
    throw error;
  }
}

async function runTool(
  exchange: Exchange,
  tool: Exclude<ToolName, typeof APPROVE_TOOL>,
  given: object,
  hold: HeldWait,
): Promise<RpcResult> {
  const { door, principal, call } = exchange;
  switch (tool) {
    case "ask_human":
      return askHuman(door, principal, call, given);
    case "check_human_responses": {
      const handle = readHandle(given);
      if (!isCallId(handle)) return checkResponses(door, principal, handle);
      await chargeRead(door, principal);
      const request = await readOwnRequest(door.ctx, principal, handle);
      return peopleResult(door, await noteInquiriesTold(door.ctx, request), null);
    }
    case "wait_for_human_responses": {
      const input = await readWaitInput(door, principal, given);
      if (isCallId(input.questionId)) {
        using _place = parkWait(door, principal);
        const request = await readOwnRequest(door.ctx, principal, input.questionId);
        return await resultOfPeople(exchange, { request, maxWaitSeconds: input.maxWaitSeconds }, hold, {
          ownsRequest: false,
        });
      }
      if (declaresTasks(call)) return waitAsTask(door, principal, input, hold);
      return waitResult(
        await holdForResponses(door, principal, input, { ...hold, seconds: holdSecondsOf(input, hold) }),
        input,
      );
    }
    case "contact_human":
    case "request_approval": {
      using _place = parkWait(door, principal);
      const ask = tool === "contact_human" ? contactHuman : requestApproval;
      return await resultOfPeople(exchange, await ask(exchange, given), hold, { ownsRequest: true });
    }
    case "use_approved_call":
      return useApprovedCall(exchange, given);
    case "report_outcome":
      return reportToolOutcome(exchange, given);
    case "answer_inquiry":
      return answerAskedBack(exchange, given);
    case "list_humans":
      return listPeople(door, principal, given);
  }
}

/** Returns a refusal as a protocol error, for methods other than tool calls: only a tool's result can carry one. */
export function limitAsError({ call }: Exchange, error: unknown): unknown {
  const refusal = refusalFrom(error);
  if (!refusal) return error;
  return new RpcError(RPC.internal, refusal.message, { data: refusal.details, id: call.id });
}
