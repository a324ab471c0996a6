import { sweepAsks } from "../../asks/loops/retention.ts";
import { sweepConversations } from "../../conversations/loops/retention.ts";
import { sweepCore, type Retention } from "../../core/loops/retention.ts";
import { sweepGate } from "../../gate/loops/retention.ts";
import { sweepNotices } from "../../notices/loops/retention.ts";
import { sweepPolicy } from "../../policy/loops/retention.ts";
import { sweepQuestions } from "../../questions/loops/retention.ts";
import { sweepRequests } from "../../requests/loops/retention.ts";

const ROOMS: readonly Retention[] = [
  sweepQuestions,
  sweepCore,
  sweepNotices,
  sweepPolicy,
  sweepAsks,
  sweepGate,
  sweepConversations,
  sweepRequests,
];

/**
 * Deletes what has outlived its time, a batch of each kind, in every room. True when there may be more.
 */
export const sweep: Retention = async (ctx) => {
  let isMore = false;
  for (const room of ROOMS) isMore = (await room(ctx)) || isMore;
  return isMore;
};
