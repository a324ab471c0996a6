const RANKS: readonly RegExp[] = [
  /[*]|(?<![\p{L}\p{N}])(?:all|any|everyone|everybody|alle|tous|owner|root|superuser|superadmin|public|list|newsletter|subscribers)(?![\p{L}\p{N}])|\(\s*\d[\d.,' ]*\)/iu,
  /(?<![\p{L}\p{N}])(?:admins?|administrators?|sudo(?:ers)?|master|god|password|passwords|passphrase|secrets?|token|ssn|iban|full)(?![\p{L}\p{N}])/iu,
  /(?<![\p{L}\p{N}])(?:write|delete|manage|maintain(?:er)?|edit(?:or)?|deploy|billing|finance|production|prod|card|phone|email|birth|birthdate|address|salary)(?![\p{L}\p{N}])/iu,
];

/** Returns the members of a list, the one first that grants or reaches most; others keep their order. */
export function strongestFirst(items: readonly string[]): string[] {
  const ranks = items.map(rankOf);
  const first = ranks.indexOf(Math.min(...ranks));
  return first <= 0 ? [...items] : [items[first] ?? "", ...items.slice(0, first), ...items.slice(first + 1)];
}

function rankOf(item: string): number {
  const text = item.slice(0, 200).replaceAll("_", " ");
  const rank = RANKS.findIndex((pattern) => pattern.test(text));
  return rank === -1 ? RANKS.length : rank;
}
