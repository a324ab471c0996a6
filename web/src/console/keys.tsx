import type { CreatedKey, NewKey, RevokedKey } from "@parley/sdk/admin";
import { useState } from "preact/hooks";
import { besideList } from "../filter.ts";
import { Link } from "../router.tsx";
import formStyles from "../inbox/arguments/schema-form.module.css";
import { serverNow } from "../api.ts";
import { announce } from "../parts/announcer.tsx";
import { Choice } from "../parts/choice.tsx";
import { Loading } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { admin } from "./api.ts";
import styles from "./console.module.css";
import { MadeKey } from "./made-key.tsx";
import type { PageProps } from "./page-props.ts";
import { moment } from "../moment.ts";
import {
  CheckField,
  ConfirmButton,
  Detail,
  Empty,
  Facts,
  focusDetail,
  Gone,
  List,
  Moment,
  Problem,
  Rows,
  SelectField,
  Sides,
  TextField,
  useAction,
} from "./parts.tsx";
import { useChoice } from "./use-choice.ts";
import { refresh, useKeyList, useNames, usePeople } from "./queries.ts";
import { type Scope, text } from "./text.ts";

const BASE = "/console/keys";
const DAY_S = 86_400;
const TERMS = { ever: undefined, day: DAY_S, month: 30 * DAY_S, quarter: 90 * DAY_S, year: 365 * DAY_S } as const;
type Term = keyof typeof TERMS;
/** In the order that the page offers them in. */
const SCOPES = Object.keys(text.keys.scopes) as Scope[];
const TERM_NAMES = Object.keys(TERMS) as Term[];

/** Every key, and one of them. */
export function KeysPage({ item }: PageProps) {
  const { data, error, refetch } = useKeyList();
  if (error && !data) return <Trouble title={text.keys.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  const key = data.find(({ id }) => id === item);
  const detail = (() => {
    if (item === undefined) return undefined;
    if (item === "new") return <MakeKey />;
    return key ? <OneKey key={key.id} of={key} /> : <Gone to={BASE} />;
  })();
  return <Sides list={<KeyList keys={data} current={item} />} detail={detail} />;
}

function stateOf({ revoked_at, expires_at }: RevokedKey): "good" | "revoked" | "expired" {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && Date.parse(expires_at) <= serverNow() ? "expired" : "good";
}

function KeyList({ keys, current }: { keys: readonly RevokedKey[]; current: string | undefined }) {
  const { which, options, onChoose } = useChoice(["live", "all"]);
  const nameOf = useNames();
  const shown = keys.filter((key) => which === "all" || stateOf(key) === "good");
  const rows = shown.map((key) => ({
    id: key.id,
    title: key.name,
    facts: [
      <bdi>{key.scope}</bdi>,
      ...(key.person === null ? [] : [<bdi>{nameOf(key.person) ?? key.person}</bdi>]),
      text.keys.state(stateOf(key), key.expires_at && moment(key.expires_at)),
    ],
  }));
  const add = (
    <Link href={besideList(`${BASE}/new`)} class="button">
      {text.keys.add}
    </Link>
  );
  return (
    <List title={text.keys.title} isAlone={current === undefined} action={add}>
      <div class={styles.tabs}>
        <Choice
          legend={text.keys.which}
          hideLegend
          value={which}
          onChoose={onChoose}
          options={options.map((value) => ({ value, label: text.keys[value] }))}
        />
      </div>
      {rows.length === 0 ? (
        <Empty title={text.keys.empty} hint={text.keys.emptyHint} />
      ) : (
        <Rows base={BASE} rows={rows} current={current} />
      )}
    </List>
  );
}

/** The content of the form for a new key. */
interface KeyForm {
  name: string;
  scope: Scope;
  /** An id, or empty for a key of nobody. */
  person: string;
  term: Term;
  selfRespond: boolean;
}

const EMPTY_FORM: KeyForm = { name: "", scope: "agent", person: "", term: "ever", selfRespond: false };

function keyInputOf({ name, scope, person, term, selfRespond }: KeyForm): NewKey {
  const seconds = TERMS[term];
  return {
    name: name.trim(),
    scope,
    ...(person !== "" && { person }),
    ...(seconds !== undefined && { expires_in_seconds: seconds }),
    ...(scope === "agent" && selfRespond && { self_respond: true }),
  };
}

function MakeKey() {
  const [made, setMade] = useState<CreatedKey | null>(null);
  const [form, setForm] = useState(EMPTY_FORM);
  const create = useAction(async (input: NewKey) => {
    setMade(await admin.createKey(input));
    await refresh("keys");
  });

  if (made !== null) return <MadeKey of={made} base={BASE} />;
  const submit = (event: Event): void => {
    event.preventDefault();
    void create.run(keyInputOf(form));
  };
  return (
    <Detail title={text.keys.add}>
      <form class={formStyles.form} onSubmit={submit}>
        <KeyFields form={form} onChange={(some) => setForm((now) => ({ ...now, ...some }))} />
        <div class={styles.actions}>
          <button type="submit" class="primary" aria-disabled={create.isBusy}>
            {text.keys.create}
          </button>
          <Problem error={create.error} />
        </div>
      </form>
    </Detail>
  );
}

function KeyFields({ form, onChange }: { form: KeyForm; onChange: (some: Partial<KeyForm>) => void }) {
  const { data: people = [] } = usePeople();
  const owners = people.map(({ id, name }) => ({ value: id, label: name, isGiven: true }));
  return (
    <>
      <TextField
        label={text.keys.name}
        hint={text.keys.nameHint}
        value={form.name}
        onInput={(name) => onChange({ name })}
        required
      />
      <SelectField
        label={text.keys.scope}
        value={form.scope}
        options={SCOPES.map((value) => ({ value, label: text.keys.scopes[value] }))}
        onChoose={(scope) => onChange({ scope })}
      />
      <SelectField
        label={text.keys.person}
        value={form.person}
        options={[{ value: "", label: text.keys.nobody }, ...owners]}
        onChoose={(person) => onChange({ person })}
      />
      <SelectField
        label={text.keys.expires}
        value={form.term}
        options={TERM_NAMES.map((value) => ({ value, label: text.keys.terms[value] }))}
        onChoose={(term) => onChange({ term })}
      />
      {form.scope === "agent" && (
        <CheckField
          label={text.keys.selfRespond}
          hint={text.keys.selfRespondHint}
          checked={form.selfRespond}
          onChange={(selfRespond) => onChange({ selfRespond })}
        />
      )}
    </>
  );
}

function OneKey({ of: key }: { of: RevokedKey }) {
  const nameOf = useNames();
  const revoke = useAction(async () => {
    await admin.revokeKey(key.id);
    announce(text.keys.isRevoked);
    await refresh("keys");
    focusDetail();
  });
  const timed = (time: string | null, otherwise: string) => (time === null ? otherwise : <Moment time={time} />);
  return (
    <Detail title={key.name} isGiven>
      <Facts
        facts={[
          [text.keys.scope, text.keys.scopes[key.scope]],
          [text.keys.person, key.person === null ? text.keys.nobody : <bdi>{nameOf(key.person) ?? key.person}</bdi>],
          ...(key.self_respond ? [[text.keys.self, text.keys.yes] as const] : []),
          [text.keys.created, <Moment time={key.created_at} />],
          [`${text.keys.used} (${text.keys.usedHint})`, timed(key.last_used_at, text.keys.unused)],
          [text.keys.expiry, timed(key.expires_at, text.keys.revokedNever)],
          ...(key.revoked_at === null ? [] : [[text.keys.revoked, <Moment time={key.revoked_at} />] as const]),
          [text.people.idLabel, <code>{key.id}</code>],
        ]}
      />
      {stateOf(key) === "good" && (
        <div class={styles.actions}>
          <ConfirmButton
            label={text.keys.revoke}
            title={text.keys.revoking(key.name)}
            hint={text.keys.revokingHint}
            confirm={text.keys.confirmRevoke}
            action={revoke}
          />
        </div>
      )}
    </Detail>
  );
}
