import { printableExactly } from "../../lib/printable.ts";
import { keepResults } from "../../lib/kept-results.ts";
import { wordsIn } from "../model/argument-order.ts";

/** German and French words in names of arguments, and short forms, by the English word that the rules know. */
const ENGLISH = new Map(
  Object.entries({
    amount: "betrag montant somme summe importe amt",
    total: "gesamt gesamtbetrag endbetrag insgesamt totale",
    gross: "brutto ttc",
    net: "netto ht",
    price: "preis prix verkaufspreis einzelpreis",
    fee: "gebuehr gebuhr frais",
    cost: "kosten cout",
    salary: "gehalt lohn salaire",
    currency: "waehrung wahrung devise ccy monnaie curr",
    order: "bestellung bestellnummer auftrag auftragsnummer commande",
    customer: "kunde kundin kundennummer client",
    user: "benutzer nutzer utilisateur username login",
    employee: "mitarbeiter mitarbeiterin employe salarie",
    recipient:
      "empfaenger empfanger kontoinhaber zahlungsempfaenger beneficiaire beneficiary destinataire payee receiver creditor",
    destination: "ziel zielkonto dest",
    source: "quelle absender sender debtor payer auftraggeber expediteur donneur",
    account: "konto kontonummer compte",
    reason: "grund motif verwendungszweck zweck raison begruendung begrundung purpose justification",
    note: "notiz bemerkung hinweis remarque",
    comment: "kommentar commentaire",
    description: "beschreibung",
    subject: "betreff objet sujet asunto",
    message: "nachricht corps",
    file: "datei fichier",
    path: "pfad chemin",
    folder: "ordner verzeichnis dossier repertoire",
    table: "tabelle",
    database: "datenbank db dbname",
    environment: "umgebung environnement env stage",
    date: "datum",
    name: "bezeichnung nom",
    number: "nummer numero nr no num",
    quantity: "menge anzahl stueckzahl quantite qty",
    count: "nombre cnt",
    invoice: "rechnung rechnungsnummer facture",
    product: "produkt artikel artikelnummer produit article",
    old: "alt alte alter altes bisher ancien ancienne prev previous former before current",
    new: "neu neue neuer neues nouveau nouvelle next after desired updated",
    minor: "cent cents pence centimes rappen smallest subunit subunits",
    percent: "prozent percentage pct pourcentage",
    role: "rolle",
    group: "gruppe groupe",
    delete: "loeschen loschen supprimer",
    permanent: "permanently endgueltig endgultig definitif",
    to: "an vers",
    from: "von de depuis",
    backup: "sicherung sauvegarde",
    project: "projekt projet",
    site: "website blog",
    repository: "repo",
    directory: "dir cwd workdir",
  }).flatMap(([word, others]) => others.split(" ").map((other): [string, string] => [other, word])),
);
/** Calls of one kind have the same names; a long one is rare. */
const MOST_KEPT = 2000;
const LONGEST_KEPT = 60;
const JOINED = /^(file)(path|name)$|^(old|new)(string|str|text)$/;

/** Splits a name as it is written into lower-case words: `orderIds` is `order`, `ids`. A letter without ink is its code. */
export const spokenWords = keepWords((name) =>
  name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}*]+/u)
    .filter((word) => word !== "")
    .map(printableExactly),
);

/** Returns the words of a name as the rules know them: English, singular, without accents. */
export const knownWords = keepWords((name) =>
  spokenWords(name)
    .flatMap((word) => JOINED.exec(word)?.slice(1).filter(Boolean) ?? [word])
    .map((word) => {
      const plain = word.normalize("NFD").replace(/\p{M}/gu, "");
      const singular = /[^s]s$/.test(plain) ? plain.slice(0, -1) : plain;
      return ENGLISH.get(plain) ?? ENGLISH.get(singular) ?? singular;
    }),
);

/** Words as a set of known words: a table of names is written in any number. */
export function knownSet(...lines: string[]): ReadonlySet<string> {
  return new Set([...wordsIn(...lines)].flatMap((word) => knownWords(word)));
}

function keepWords(read: (name: string) => readonly string[]): (name: string) => readonly string[] {
  const kept = keepResults(MOST_KEPT, read);
  return (name) => (name.length > LONGEST_KEPT ? read(name) : kept(name));
}
