import type { Context } from "../context.ts";
import { readChannelFigures, type ChannelFigures } from "./store/channel-figures.ts";

/** Returns what became of the messages of each channel that ever had one. */
export async function readChannels(ctx: Pick<Context, "db">): Promise<ChannelFigures[]> {
  return readChannelFigures(ctx.db);
}
