import { text as answerText } from "./text.ts";
import styles from "./badge.module.css";

/** The mark inside each ring. */
const MARKS: Record<string, string> = {
  first_answer: "1",
  answers_10: "10",
  answers_100: "100",
  answers_500: "500",
  answers_1000: "1k",
  streak_3: "3d",
  streak_7: "7d",
  streak_30: "30d",
  streak_100: "100d",
  expert_technical: "Te",
  expert_product: "Pr",
  expert_ethics: "Et",
  expert_creative: "Cr",
  expert_general: "Ge",
  early_bird: "2′",
  night_owl: "0–6",
  speed_demon: "30″",
  confident: "5/5",
};

const ROUND = 2 * Math.PI * 22;

/** A ring that closes as a badge comes nearer. */
function BadgeRing({ id, share }: { id: string; share: number }) {
  return (
    <svg class={styles.ring} data-earned={share >= 1} viewBox="0 0 48 48" aria-hidden="true">
      <circle class={styles.track} cx="24" cy="24" r="22" />
      {share > 0 && (
        <circle
          class={styles.arc}
          cx="24"
          cy="24"
          r="22"
          pathLength={ROUND}
          stroke-dasharray={`${Math.min(share, 1) * ROUND} ${ROUND}`}
        />
      )}
      <text x="24" y="24">
        {MARKS[id] ?? "★"}
      </text>
    </svg>
  );
}

/** One badge with its name, what it is earned with, and how far it is. */
export function Badge({ id, name, share, note }: { id: string; name?: string; share: number; note: string }) {
  const [called = name ?? id, earnedWith = ""] = answerText.badges[id] ?? [];
  return (
    <li class={styles.badge}>
      <BadgeRing id={id} share={share} />
      <span>
        <strong>{called}</strong>
        <span class={styles.note}>{[earnedWith, note].filter(Boolean).join(" · ")}</span>
      </span>
    </li>
  );
}
