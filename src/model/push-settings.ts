import type { Tag } from "./ask.ts";

interface QuietHours {
  start: string;
  end: string;
  time_zone: string;
}

/** What a device asked to be told, and where. */
export interface PushSettings {
  kind: "fcm" | "web";
  /** The FCM token, or the push endpoint. */
  address: string;
  keys: { p256dh: string; auth: string } | null;
  minIntervalMinutes: number;
  /** Tags of interest; none means all. */
  audience: readonly Tag[];
  quietHours: QuietHours | null;
}
