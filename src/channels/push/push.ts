import type { PushOutside } from "./outside.ts";
import type { SendPush } from "../../notices/model/push-message.ts";
import { type FcmAccount, openFcm } from "./fcm.ts";
import { openWebPush, type VapidDetails } from "./web-push.ts";

export interface PushServerSettings {
  /** Known for certain only once the server listens. */
  publicUrl: () => string;
  vapid: VapidDetails;
  /** Null where the server has no Firebase project: nothing is sent to FCM tokens. */
  fcm: FcmAccount | null;
}

/** Returns the sender of messages to devices: Web Push, and FCM where it is set up (spec/channels 5.2). */
export function openPush(settings: PushServerSettings, outside: PushOutside): SendPush {
  const toBrowser = openWebPush(settings, outside);
  const toFcm = settings.fcm && openFcm(settings.fcm, settings.publicUrl, outside);
  return async (device, message, signal) => {
    if (device.kind === "web") return toBrowser(device, message, signal);
    if (!toFcm) throw new Error("an FCM token was picked on a server without a Firebase project");
    return toFcm(device, message, signal);
  };
}
