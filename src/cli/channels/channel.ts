import { openAskerBounds } from "../../requests/model/asker-bounds.ts";
import { printable } from "../../lib/printable.ts";
import { CHANNELS } from "../../channels/kinds.ts";
import { readChannelTest, startChannelTest, type ChannelTest } from "../../requests/create/test-channel.ts";
import { withStore } from "../command-store.ts";
import { command, EXIT, type Io, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { print } from "../print.ts";
import { channelRemedy } from "./remedy.ts";
import { lookUntil } from "../look-until.ts";

/** The running server looks for messages twice a second. */
const SENT_WITHIN_MS = 30_000;
/** As long as the test message can be answered. */
const ANSWERED_WITHIN_MS = 610_000;

export const channelTest = command({
  takes: {
    TYPE: { help: "", choices: CHANNELS },
    "--person ID": "to whom, by the number of parley people list; left out, whoever runs the server",
    "--wait": "until the message is answered: the way back is tried too",
    ...JSON_FLAG,
    ...STORE_FLAGS,
  },
  example: "parley channel test email --person 1",
  async run({ type: channel, person, wait, json, ...place }, io) {
    const test = await withStore(place, io, async (ctx, { addressed }) => {
      const { id } = await startChannelTest({ ...ctx, addressed, askerBounds: openAskerBounds() }, { channel, person });
      const read = () => readChannelTest(ctx, id);
      const sent = await lookUntil(read, ({ state }) => state !== "sending", {
        withinMs: SENT_WITHIN_MS,
        signal: io.interrupted,
      });
      if (!wait || sent.state !== "sent") return sent;
      io.tell(sentence(sent));
      const isOver = ({ state }: ChannelTest) => state === "answered" || state === "over";
      return lookUntil(read, isOver, { withinMs: ANSWERED_WITHIN_MS, signal: io.interrupted });
    });
    print(json, test, [sentence(test)], io);
    return exitCode(test, wait, io);
  },
});

function exitCode({ state }: ChannelTest, waited: boolean, io: Io): number {
  if (io.interrupted.aborted) return EXIT.interrupted;
  if (state === "answered" || (state === "sent" && !waited)) return EXIT.done;
  return state === "failed" || state === "retrying" ? EXIT.refused : EXIT.unanswered;
}

function sentence({ channel, person, state, attempts, error, via }: ChannelTest): string {
  const what = printable(error ?? "unreachable");
  switch (state) {
    case "sending":
      return "The message waits to be sent, and no server has taken it up; start one on this data directory: parley serve";
    case "retrying":
      return `Not sent yet: ${what}. Tried ${attempts === 1 ? "once" : `${attempts} times`}, and will be tried again. ${channelRemedy(channel)}`;
    case "failed":
      return `Not sent: ${what}. ${channelRemedy(channel)}`;
    case "sent":
      return `Sent to ${person} by ${channel}. It can be answered for ten minutes.`;
    case "answered":
      return `Sent to ${person} by ${channel}, and answered by ${via ?? "nobody"}.`;
    case "over":
      return `Sent to ${person} by ${channel}; nobody answered within ten minutes.`;
  }
}
