import { z } from "zod";
import { GROUP_NAME, MOST_MEMBERS } from "../requests/model/rules.ts";
import { setting } from "./setting.ts";

const GROUPS = {
  error:
    `a block of names in small letters (not team or public), each with a list of up to ${MOST_MEMBERS} people, ` +
    'by number or exact name, such as { finance: [12, "Ana Ruiz"] }',
};
const Member = z.union([z.int(GROUPS).min(1, GROUPS), z.string(GROUPS).trim().min(1, GROUPS)], GROUPS);

/** Settings of the people who are asked. */
export const PEOPLE_SETTINGS = z.object({
  groups: setting(
    z
      .record(
        z.string().regex(GROUP_NAME, GROUPS),
        z.array(Member, GROUPS).min(1, GROUPS).max(MOST_MEMBERS, GROUPS),
        GROUPS,
      )
      .optional(),
    "Groups of people by a name under which they are asked together; whoever of them is first decides.",
    { example: '{ finance: [12, "Ana Ruiz"] }' },
  ),
});
