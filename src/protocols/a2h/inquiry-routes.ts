import { answerInquiry } from "../../requests/inbox/inquire.ts";
import { readDetails } from "../../requests/read/read-request.ts";
import { InquiryAnswerBody } from "../../wire/a2h/new-request.ts";
import { WireInquiry } from "../../wire/a2h/request.ts";
import { callerFrom } from "./caller.ts";
import { checkedBody } from "./fields.ts";
import { printInquiry } from "./print.ts";
import { bodyOf, routeOptions, type Mount } from "./route.ts";

interface WithId {
  Params: { id: string };
}

/** Answering a question that somebody put to the agent of a request (spec/a2h 23). */
export function inquiryRoutes(mount: Mount): void {
  const { app, door } = mount;
  const { ctx } = door;
  app.post<WithId>(
    "/inquiries/:id/answer",
    routeOptions(mount, {
      noun: "inquiry",
      summary: "Answer a question of somebody who is to decide",
      body: InquiryAnswerBody,
      reply: WireInquiry,
    }),
    async (http): Promise<WireInquiry> => {
      const { principal: asker, conversation } = await callerFrom(door, http, ["agent"]);
      const { text } = checkedBody(InquiryAnswerBody, bodyOf(http));
      const { request, place } = await answerInquiry(ctx, { asker, id: http.params.id, conversation }, text);
      const inquiry = request.inquiries?.[place - 1];
      if (!inquiry) throw new Error("an inquiry that was answered is gone");
      return printInquiry(request, inquiry, { place, details: await readDetails(ctx, request) });
    },
  );
}
