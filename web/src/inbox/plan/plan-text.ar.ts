import { isolated, number } from "../../format.ts";
import { countCalls } from "../count-calls.ar.ts";
import type { PlanTexts } from "./plan-text.en.ts";

const approve = (n: number, of: number): string =>
  n === of ? `الموافقة: ${countCalls(n)}` : `الموافقة على أول ${number(n)} من ${number(of)}`;
const from = (place: number, of: number): string =>
  place === of ? `الاستدعاء ${number(place)}` : `الاستدعاءات من ${number(place)} إلى ${number(of)}`;

export const text: PlanTexts = {
  calls: "الاستدعاءات بهذا الترتيب",
  evidence: "الأدلة",
  evidenceLead: (agent) => `يعرضها ${isolated(agent)}. اختارها برنامج ولم يتحقق منها أحد.`,
  kinds: { markdown: "نص", diff: "فروق", table: "جدول", link: "رابط", image: "صورة" },
  image: (n) => `صورة بلا عنوان، رقمها بين الأدلة ${number(n)}`,
  arguments: (place) => `وسائط الاستدعاء ${number(place)}`,
  risky: (n, places) => `عالي الخطورة: ${countCalls(n)} (${isolated(places)})`,
  takeOut: "استبعاد من هنا",
  takeOutOf: (place, of) => `استبعاد من هنا: ${from(place, of)}`,
  putBack: "إعادة",
  putBackOf: (place, of) => `إعادة: ${from(place, of)}`,
  out: "مستبعد",
  tookOut: (place, of) => `استُبعد: ${from(place, of)}.`,
  isBack: (of) => `عاد الكل: ${countCalls(of)}.`,
  allOut: "استُبعدت كل الاستدعاءات، وهذا يرفض الخطة.",
  approve,
  approveTitle: (n, of) => `${approve(n, of)}؟`,
  rejectTitle: (of) => `رفض: ${countCalls(of)}؟`,
  approveLead: (agent) => `يمكن أن يشغّل ${isolated(agent)} كلًا منها مرة واحدة، بهذا الترتيب وبالوسائط المعروضة.`,
  rejectLead: "لن يُشغَّل أي من الاستدعاءات.",
  rejects: (place, of) => `يُرفض بذلك: ${from(place, of)}.`,
  grave: (n) => `منها عالي الخطورة: ${countCalls(n)}:`,
  more: (n) => `وغيرها: ${number(n)}`,
  approved: (n, of) =>
    n === of ? `تمت الموافقة على الكل: ${countCalls(n)}.` : `تمت الموافقة على أول ${number(n)} من ${number(of)}.`,
  noneApproved: (of) => `لم تتم الموافقة على أي منها: ${countCalls(of)}.`,
};
