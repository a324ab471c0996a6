import type { Context } from "../../context.ts";
import { readChannelFigures, type ChannelFigures } from "../store/channel-figures.ts";
import { countWaiting, type Waiting } from "../store/waiting.ts";

export type { Waiting } from "../store/waiting.ts";

/** Returns what people are asked and have not decided, and which messages about it have not gone out yet. */
export function readWaiting(ctx: Pick<Context, "db">): Promise<Waiting> {
  return countWaiting(ctx.db);
}

/** Returns what became of the messages of each channel that ever had one. */
export async function readChannels(ctx: Pick<Context, "db">): Promise<ChannelFigures[]> {
  return readChannelFigures(ctx.db);
}
