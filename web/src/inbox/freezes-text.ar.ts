import type { FreezesTexts } from "./freezes-text.en.ts";

export const text: FreezesTexts = {
  all: (since, by) => `كل شيء مجمّد منذ ${since} بأمر ${by}: لا يُوافَق على شيء.`,
  agent: (agent, since, by) => `الوكيل ${agent} مجمّد منذ ${since} بأمر ${by}: لا يُوافَق له على شيء.`,
  person: (person, since, by) => `وكلاء ${person} مجمّدون منذ ${since} بأمر ${by}: لا يُوافَق لهم على شيء.`,
  reason: (words) => `السبب: ${words}`,
  thaw: "إلغاء التجميد",
  thawTitle: "إلغاء التجميد؟",
  thawLead: "تُحتسب الموافقات من جديد، وتتابع المواعيد، ويمكن تنفيذ ما سبقت الموافقة عليه.",
  thawed: "أُلغي التجميد.",
  freezeAgent: "تجميد هذا الوكيل",
  freezeAgentTitle: (agent) => `تجميد ${agent}؟`,
  freezeAgentLead: "لا يُوافَق له على شيء حتى يُلغى التجميد، وتتوقف مواعيده. ويبقى الرفض ممكنًا.",
  freezeAll: "تجميد كل شيء",
  freezeAllTitle: "تجميد كل شيء؟",
  freezeAllLead: "لا يُوافَق لأي وكيل على شيء حتى يلغي مسؤول التجميد، وتتوقف جميع المواعيد. ويبقى الرفض ممكنًا.",
  why: "السبب (اختياري)",
  freeze: "تجميد",
  frozen: "جُمّد.",
  title: "المجمّد",
  none: "لا شيء مجمّد.",
  failed: "تعذّرت قراءة ما هو مجمّد.",
};
