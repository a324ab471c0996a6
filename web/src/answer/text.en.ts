/** Every word of Answer that is needed only after a question is on screen. */
import type { ReportReason } from "@parley/sdk/wire";
import { count, duration, number } from "../format.ts";

export const text = {
  waiting: {
    title: "Written, not sent yet",
    signedOut: "You are signed out. Your answer is kept on this device and sent when you sign in again.",
    hint: "The server cannot be reached. Your answer is kept on this device and sent once when it can.",
    limited: (ms: number) =>
      `You have reached the limit for this hour. Your answer is kept and sent in ${duration(ms)}.`,
    list: (n: number) => `${count(n, "answer waits", "answers wait")} to be sent`,
    refusedList: (n: number) => `${count(n, "answer was", "answers were")} not taken`,
    sendNow: "Try now",
    discard: "Discard",
    refused: "Your answer was not taken",
    reasons: {
      ALREADY_ANSWERED: "You had already answered this question. Only the first answer counts.",
      QUESTION_CLOSED: "The question had got all its answers, or its time had run out, before yours arrived.",
      QUESTION_NOT_FOUND: "The question no longer exists.",
      SELF_ANSWER: "Whoever asked a question cannot answer it.",
      UNAUTHORIZED: "Answering here needs a sign-in. Ask whoever runs this server for a link, then send it again.",
    } as Record<string, string>,
    edit: "Change and send again",
  },

  result: {
    answered: "You have answered this",
    points: (n: number) => `+${count(n, "point", "points")}`,
    capped: "Sent. You have earned all of today's points already.",
    streak: (days: number) => `${number(days)}-day streak`,
    soFar: (have: number, need: number) => `${number(have)} of ${count(need, "answer", "answers")} so far`,
    complete: (have: number) => (have === 1 ? "The one answer is in" : `All ${number(have)} answers are in`),
    expired: (have: number) => `Closed with ${count(have, "answer", "answers")}`,
    yours: "Yours",
    votes: (n: number) => count(n, "vote", "votes"),
    others: "What others said",
    firstVoice: "Yours is the first answer. Others appear here as they come.",
    notShared: "Whoever asked keeps the answers private.",
    newBadge: "New badge",
    failed: "The results could not be loaded.",
  },

  report: {
    title: "Report this question",
    lead: "It leaves your list at once. Three reports hold it back from everybody until someone has looked.",
    reasons: {
      spam: "Spam or advertising",
      personal_data: "Asks for personal data",
      unsafe: "Unsafe or hurtful",
      unclear: "Cannot be understood",
      other: "Something else",
    } satisfies Record<ReportReason, string>,
    legend: "What is wrong?",
    comment: "Anything to add? (optional)",
    send: "Report",
    failed: "The report was not sent. Try again when the server can be reached.",
  },

  /** By id: its name, and what it is earned with. */
  badges: {
    first_answer: ["First Steps", "The first answer"],
    answers_10: ["Getting Started", "10 answers"],
    answers_100: ["Century", "100 answers"],
    answers_500: ["Veteran", "500 answers"],
    answers_1000: ["Legend", "1000 answers"],
    streak_3: ["On a Roll", "3 days in a row"],
    streak_7: ["Week Warrior", "7 days in a row"],
    streak_30: ["Monthly Maven", "30 days in a row"],
    streak_100: ["Centurion", "100 days in a row"],
    expert_technical: ["Tech Expert", "25 technical answers"],
    expert_product: ["Product Pro", "25 product answers"],
    expert_ethics: ["Ethics Advocate", "25 ethics answers"],
    expert_creative: ["Creative Mind", "25 creative answers"],
    expert_general: ["Generalist", "25 general answers"],
    early_bird: ["Early Bird", "Within 2 minutes of asking"],
    night_owl: ["Night Owl", "10 answers between 0 and 6 o’clock"],
    speed_demon: ["Speed Demon", "5 answers, each within 30 seconds"],
    confident: ["Confident", "10 answers given as certain"],
  } as Record<string, readonly [name: string, earnedWith: string]>,
};

export type AnswerTexts = typeof text;
