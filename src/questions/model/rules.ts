/** An operator's settings for questions to the crowd (spec/ask-a-human 5.1, 7, 8, 12). */
export interface CrowdRules {
  points: { text: number; multipleChoice: number; bonuses: boolean; dailyCap: number };
  retention: { closedDays: number; expiredDays: number };
  limits: {
    questionsPerHour: number;
    openQuestions: number;
    agentReadsPerHour: number;
    answersPerHour: number;
    answersPerNetworkPerHour: number;
    humanReadsPerHour: number;
    newParticipantsPerHour: number;
    pushRegistrationsPerHour: number;
  };
}

/** The contract's defaults. */
export const DEFAULT_CROWD_RULES: CrowdRules = {
  points: { text: 10, multipleChoice: 5, bonuses: false, dailyCap: 500 },
  retention: { closedDays: 7, expiredDays: 7 },
  limits: {
    questionsPerHour: 60,
    openQuestions: 100,
    agentReadsPerHour: 600,
    answersPerHour: 30,
    answersPerNetworkPerHour: 300,
    humanReadsPerHour: 300,
    newParticipantsPerHour: 20,
    pushRegistrationsPerHour: 10,
  },
};
