const PATHS = {
  back: "M15 5l-7 7 7 7",
  check: "M5 12.5l4.5 4.5L19 7.5",
  inbox: "M4 13l3-8h10l3 8v6H4zM4 13h5a3 3 0 006 0h5",
  questions: "M4 6h16M4 12h16M4 18h10",
  leaderboard: "M5 20v-6M12 20V4M19 20v-9",
  me: "M12 12a4 4 0 100-8 4 4 0 000 8zM4.500 20.500c.8-3.600 3.800-5.500 7.500-5.500s6.700 1.900 7.500 5.500",
  console: "M4 5h16v14H4zM8 9l3 3-3 3",
  warning: "M12 4l9 16H3zM12 10v4M12 17v.500",
  close: "M6 6l12 12M18 6L6 18",
} as const;

/** A drawing beside words that say the same; never alone. */
export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg
      class={`icon icon-${name}`}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The two speech bubbles of the app's icon. */
export function Mark() {
  return (
    <svg class="mark" viewBox="14 14 74 68" aria-hidden="true">
      <path class="mark-behind" d="M82.500 61.500A16.500 16.500 0 1 0 66 78H79.860Q82.500 78 82.500 75.360Z" />
      <path class="mark-gap" d="M14.500 42A28 28 0 1 1 42.500 70H18.980Q14.500 70 14.500 65.520Z" />
      <path class="mark-front" d="M19 42A23.500 23.500 0 1 1 42.500 65.500H22.760Q19 65.500 19 61.740Z" />
    </svg>
  );
}
