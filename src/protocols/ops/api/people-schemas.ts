import { object, type Schema, text } from "./operation.ts";

/** What the crowd's door says of push messages. */
export const PEOPLE_SCHEMAS: Readonly<Record<string, Schema>> = {
  PushKey: object({ vapid_public_key: text() }),
};
