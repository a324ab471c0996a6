import type { ChannelState, ChannelTest } from "@parley/sdk/admin";
import { useState } from "preact/hooks";
import { number } from "../format.ts";
import { Loading } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { admin } from "./api.ts";
import styles from "./console.module.css";
import type { PageProps } from "./page-props.ts";
import {
  ActionButton,
  Detail,
  Facts,
  Gone,
  List,
  Moment,
  Rows,
  Section,
  SelectField,
  ServerSays,
  Sides,
  useAction,
  useEvery,
} from "./parts.tsx";
import { type Known, refresh, useChannels, usePeople } from "./queries.ts";
import { text } from "./text.ts";

const BASE = "/console/channels";
const LOOK_EVERY_MS = 1000;

/** The ways to reach people, what became of their messages, and a test of each. */
export function ChannelsPage({ item, me }: PageProps) {
  const { data, error, refetch } = useChannels();
  if (error && !data) return <Trouble title={text.channels.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  const channel = data.find((one) => one.channel === item);
  const rows = data.map((one) => ({
    id: one.channel,
    title: text.channel(one.channel),
    facts: [text.channels.state(one)],
  }));
  const list = (
    <List title={text.channels.title} isAlone={item === undefined}>
      <Rows base={BASE} rows={rows} current={item} />
    </List>
  );
  const one = channel ? <OneChannel key={channel.channel} channel={channel} me={me.id} /> : <Gone to={BASE} />;
  return <Sides list={list} detail={item === undefined ? undefined : one} />;
}

function OneChannel({ channel, me }: { channel: ChannelState; me: string }) {
  const { sent_at, failed_at, error, retrying, configured } = channel;
  const timed = (time: string | null) => (time === null ? text.never : <Moment time={time} />);
  return (
    <Detail title={text.channel(channel.channel)}>
      <p>{configured ? text.channels.on : text.channels.off}</p>
      {(!configured || channel.channel === "push") && <p class="muted">{text.channels.setUp[channel.channel]}</p>}
      <Facts
        facts={[
          [text.channels.lastSent, timed(sent_at)],
          [
            text.channels.lastFailed,
            <>
              {timed(failed_at)}{" "}
              {failed_at !== null && error !== null && <ServerSays words={text.channels.reason(error)} />}
            </>,
          ],
          [text.channels.retrying, number(retrying)],
        ]}
      />
      {configured && <Trying channel={channel.channel} me={me} />}
    </Detail>
  );
}

/** Somebody who can be reached this way; by notifications, one finds out. */
function isReached({ written }: Known, channel: ChannelState["channel"]): boolean {
  if (channel === "push") return true;
  return written?.prioritizedContactChannels.some((one) => channel in one) ?? false;
}

function Trying({ channel, me }: { channel: ChannelState["channel"]; me: string }) {
  const { data: people = [] } = usePeople();
  const reached = people.filter((one) => isReached(one, channel));
  const [chosen, setChosen] = useState(me);
  const to = reached.find(({ id }) => id === chosen) ?? reached[0];
  const [test, setTest] = useState<ChannelTest | null>(null);
  const start = useAction(async () => {
    setTest(null);
    if (to) setTest(await admin.startChannelTest({ channel, person: to.id }));
  });
  const isUnderWay = test !== null && ["sending", "retrying", "sent"].includes(test.state);
  useEvery(LOOK_EVERY_MS, isUnderWay, () => {
    const look = async (): Promise<void> => {
      if (!test) return;
      const now = await admin.channelTest(test.id);
      if (now.state !== test.state) void refresh("channels");
      setTest((shown) => (shown?.id === now.id ? now : shown));
    };
    // A look that fails is followed by another.
    look().catch(() => undefined);
  });
  return (
    <Section title={text.channels.test}>
      <p class="muted">{text.channels.testHint}</p>
      {to ? (
        <>
          <SelectField
            label={text.channels.to}
            value={to.id}
            options={reached.map(({ id, name }) => ({ value: id, label: name, isGiven: true }))}
            onChoose={setChosen}
          />
          <div class={styles.actions}>
            <ActionButton action={start} label={test ? text.channels.again : text.channels.send} kind="primary" />
          </div>
        </>
      ) : (
        people.length > 0 && <p>{text.channels.nobody}</p>
      )}
      <p role="status" data-state={test?.state} class={styles.result}>
        {test && text.channels.result(test)}
      </p>
    </Section>
  );
}
