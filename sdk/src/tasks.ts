/** Types of tasks for coding agents, of their events and of their review, as they travel. */
export type {
  AssignmentReport,
  Board,
  LineComment,
  NewTask,
  ReviewedWork,
  Task,
  TaskAsk,
  TaskEvent,
  TaskReview,
  WholeTask,
} from "./wire-schemas.ts";
