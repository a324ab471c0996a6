import type { NewHuman } from "@parley/sdk/admin";
import { useState } from "preact/hooks";
import { Link, useLocation } from "../router.tsx";
import { announce } from "../parts/announcer.tsx";
import { Copyable } from "../parts/copyable.tsx";
import { Loading } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { admin } from "./api.ts";
import styles from "./console.module.css";
import type { PageProps } from "./page-props.ts";
import {
  ActionButton,
  ConfirmButton,
  Detail,
  Facts,
  Gone,
  List,
  listed,
  Rows,
  Section,
  Sides,
  useAction,
} from "./parts.tsx";
import { PERSON_CHANNELS, PersonForm } from "./person-form.tsx";
import { type Known, refresh, usePeople } from "./queries.ts";
import { text } from "./text.ts";

const BASE = "/console/people";

/** Everybody with a name here, and one of them. */
export function PeoplePage({ item }: PageProps) {
  const { data, error, refetch } = usePeople();
  if (error && !data) return <Trouble title={text.people.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  const person = data.find(({ id }) => id === item);
  const detail = (() => {
    if (item === undefined) return undefined;
    if (item === "new") return <NewPerson />;
    return person ? <OnePerson key={person.id} person={person} /> : <Gone to={BASE} />;
  })();
  return <Sides list={<PeopleList people={data} current={item} />} detail={detail} />;
}

function PeopleList({ people, current }: { people: readonly Known[]; current: string | undefined }) {
  const rows = people.map(({ id, name, role, written }) => ({
    id,
    title: name,
    facts: [
      ...(role === "admin" ? [text.people.admin] : []),
      ...(written?.role ? [<bdi>{written.role}</bdi>] : []),
      ways(written),
    ],
  }));
  const add = (
    <Link href={`${BASE}/new`} class="button">
      {text.people.add}
    </Link>
  );
  return (
    <List title={text.people.title} isAlone={current === undefined} action={add}>
      <Rows base={BASE} rows={rows} current={current} />
    </List>
  );
}

/** The channels somebody is reached by, in order. */
function ways(written: Known["written"]): string {
  const names = written?.prioritizedContactChannels.flatMap((one) => PERSON_CHANNELS.filter((name) => name in one));
  const others = names?.filter((name) => name !== "inbox") ?? [];
  return others.length === 0 ? text.people.noChannels : listed(others.map(text.channel));
}

function NewPerson() {
  const [, go] = useLocation();
  const save = useAction(async (input: NewHuman, isAdmin: boolean) => {
    const made = await admin.addHuman(input);
    if (isAdmin) await admin.changeRole(made.id, "admin");
    await refresh("people");
    announce(text.saved);
    go(`${BASE}/${made.id}`);
  });
  return (
    <Detail title={text.people.adding}>
      <PersonForm written={undefined} isAdmin={false} save={save} />
    </Detail>
  );
}

function OnePerson({ person }: { person: Known }) {
  const { id, operator, name, role, written } = person;
  const save = useAction(async (input: NewHuman, isAdmin: boolean) => {
    await admin.replaceHuman(id, input);
    if (isAdmin !== (role === "admin")) await admin.changeRole(id, isAdmin ? "admin" : "member");
    await refresh("people");
    announce(text.saved);
  });
  return (
    <Detail title={name} isGiven>
      <PersonForm written={written} isAdmin={role === "admin"} isOperator={operator} save={save} />
      <SigningIn person={person} />
      {!operator && <Removing person={person} />}
    </Detail>
  );
}

function SigningIn({ person: { id, sessions } }: { person: Known }) {
  const [url, setUrl] = useState<string | null>(null);
  const link = useAction(async () => setUrl((await admin.createSignInLink(id)).url));
  const end = useAction(async () => {
    await admin.endSessions(id);
    setUrl(null);
    await refresh("people");
    announce(text.people.ended);
  });
  return (
    <Section title={text.people.signIn}>
      <p class="muted">{text.people.sessions(sessions)}</p>
      {url !== null && (
        <>
          <p>{text.people.linkHint}</p>
          <Copyable label={text.people.linkLabel} words={url} />
        </>
      )}
      <div class={styles.actions}>
        <ActionButton action={link} label={text.people.link} />
        {sessions > 0 && <ActionButton action={end} label={text.people.end} kind="quiet" />}
      </div>
      <Facts facts={[[text.people.idLabel, <code>{id}</code>]]} />
    </Section>
  );
}

function Removing({ person: { id, name } }: { person: Known }) {
  const [, go] = useLocation();
  const remove = useAction(async () => {
    await admin.removeHuman(id);
    go(BASE);
    announce(text.people.removed);
    await refresh("people");
  });
  return (
    <div class={styles.actions}>
      <ConfirmButton
        label={text.people.remove}
        title={text.people.removing(name)}
        hint={text.people.removingHint}
        confirm={text.people.confirmRemove}
        action={remove}
      />
    </div>
  );
}
