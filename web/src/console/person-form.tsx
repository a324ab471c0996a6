import type { EnrolledHuman, HumanChannel, NewHuman } from "@parley/sdk/admin";
import { useState } from "preact/hooks";
import formStyles from "../inbox/arguments/schema-form.module.css";
import styles from "./console.module.css";
import { type Action, CheckField, dirOf, Problem, SelectField, TextField } from "./parts.tsx";
import { type PersonChannel, text } from "./text.ts";

/** The field of each channel that says where somebody is reached; the inbox needs none. */
const ADDRESS: Record<PersonChannel, string | null> = {
  inbox: null,
  email: "address",
  slack: "channelOrUserId",
  sms: "phoneNumber",
  whatsapp: "phoneNumber",
  webhook: "name",
};
/** In the order that the form offers them in. */
export const PERSON_CHANNELS = Object.keys(ADDRESS) as PersonChannel[];
const MOST_WAYS = 10;

/** One way to reach somebody while it is written down: what the form does not know of it stays. */
interface Way {
  key: number;
  channel: PersonChannel;
  address: string;
  rest: Readonly<Record<string, unknown>>;
}

let keys = 0;

function wayOf(one: HumanChannel): Way {
  const channel = PERSON_CHANNELS.find((name) => name in one) ?? "inbox";
  const rest = one[channel] ?? {};
  const field = ADDRESS[channel];
  return { key: (keys += 1), channel, address: field === null ? "" : String(rest[field] ?? ""), rest };
}

function writtenDown({ channel, address, rest }: Way): HumanChannel {
  const field = ADDRESS[channel];
  return { [channel]: field === null ? {} : { ...rest, [field]: address.trim() } };
}

/** The form for the details of a person, new or known. */
export function PersonForm(props: {
  written: EnrolledHuman | undefined;
  isAdmin: boolean;
  isOperator?: boolean;
  save: Action<[NewHuman, boolean]>;
}) {
  const { written, save } = props;
  const [name, setName] = useState(written?.name ?? "");
  const [job, setJob] = useState(written?.role ?? "");
  const [about, setAbout] = useState(written?.description ?? "");
  const [isAdmin, setAdmin] = useState(props.isAdmin);
  const [scope, setScope] = useState(written?.inboxScope ?? "addressed");
  const [ways, setWays] = useState(() => (written?.prioritizedContactChannels ?? []).map(wayOf));

  const submit = (event: Event): void => {
    event.preventDefault();
    const channels = ways.length === 0 ? [{ inbox: {} }] : ways.map(writtenDown);
    const input: NewHuman = {
      name: name.trim(),
      description: about,
      inboxScope: scope,
      prioritizedContactChannels: channels,
      ...(job.trim() !== "" && { role: job.trim() }),
    };
    void save.run(input, isAdmin);
  };
  return (
    <form class={formStyles.form} onSubmit={submit}>
      <TextField label={text.people.name} value={name} onInput={setName} required />
      <TextField label={text.people.job} hint={text.people.jobHint} value={job} onInput={setJob} />
      <TextField label={text.people.about} hint={text.people.aboutHint} value={about} onInput={setAbout} rows={3} />
      <Ways ways={ways} onChange={setWays} />
      <SelectField
        label={text.people.scope}
        value={scope}
        options={(["addressed", "all"] as const).map((value) => ({ value, label: text.people.scopes[value] }))}
        onChoose={setScope}
      />
      <CheckField
        label={text.people.role}
        hint={props.isOperator ? text.people.operator : text.people.roleHint}
        checked={isAdmin}
        disabled={props.isOperator ?? false}
        onChange={setAdmin}
      />
      <div class={styles.actions}>
        <button type="submit" class="primary" aria-disabled={save.isBusy}>
          {text.save}
        </button>
        <Problem error={save.error} />
      </div>
    </form>
  );
}

function Ways({ ways, onChange }: { ways: readonly Way[]; onChange: (ways: Way[]) => void }) {
  const change = (key: number, to: Partial<Way>): void =>
    onChange(ways.map((way) => (way.key === key ? { ...way, ...to } : way)));
  const swap = (at: number, other: number): void =>
    onChange(ways.map((way, i) => (i === at ? (ways[other] ?? way) : i === other ? (ways[at] ?? way) : way)));
  return (
    <fieldset class={formStyles.field}>
      <legend>{text.people.channels}</legend>
      <p class={formStyles.says}>{text.people.channelsHint}</p>
      <ol class={styles.ways}>
        {ways.map((way, at) => (
          <li key={way.key}>
            <WayRow
              way={way}
              place={at + 1}
              onChange={(to) => change(way.key, to)}
              onUp={at > 0 ? () => swap(at, at - 1) : undefined}
              onDown={at < ways.length - 1 ? () => swap(at, at + 1) : undefined}
              onDrop={() => onChange(ways.filter(({ key }) => key !== way.key))}
            />
          </li>
        ))}
      </ol>
      {ways.length < MOST_WAYS && (
        <div>
          <button
            type="button"
            onClick={() => onChange([...ways, { key: (keys += 1), channel: "email", address: "", rest: {} }])}
          >
            {text.people.addChannel}
          </button>
        </div>
      )}
    </fieldset>
  );
}

function WayRow(props: {
  way: Way;
  place: number;
  onChange: (to: Partial<Way>) => void;
  onUp: (() => void) | undefined;
  onDown: (() => void) | undefined;
  onDrop: () => void;
}) {
  const { way, place } = props;
  const name = text.people.place(place);
  const address = way.channel === "inbox" ? undefined : text.people.address[way.channel];
  return (
    <div class={styles.way}>
      <select
        aria-label={name}
        value={way.channel}
        onChange={(event) => {
          const channel = PERSON_CHANNELS.find((one) => one === event.currentTarget.value);
          if (channel) props.onChange({ channel, address: "", rest: {} });
        }}
      >
        {PERSON_CHANNELS.map((channel) => (
          <option key={channel} value={channel}>
            {text.channel(channel)}
          </option>
        ))}
      </select>
      {address !== undefined && (
        <input
          type="text"
          dir={dirOf(way.address)}
          aria-label={`${name}: ${address}`}
          placeholder={address}
          autoComplete="off"
          required
          value={way.address}
          onInput={(event) => props.onChange({ address: event.currentTarget.value })}
        />
      )}
      <div class={styles.order}>
        <Mark label={text.people.up(name)} onClick={props.onUp}>
          ↑
        </Mark>
        <Mark label={text.people.down(name)} onClick={props.onDown}>
          ↓
        </Mark>
        <Mark label={text.people.drop(name)} onClick={props.onDrop}>
          ×
        </Mark>
      </div>
    </div>
  );
}

function Mark({ label, onClick, children }: { label: string; onClick: (() => void) | undefined; children: string }) {
  return (
    <button type="button" class="quiet square" aria-label={label} aria-disabled={!onClick} onClick={() => onClick?.()}>
      <span aria-hidden="true">{children}</span>
    </button>
  );
}
