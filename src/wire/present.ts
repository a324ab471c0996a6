/** A body before it is printed: a member that may be left out may be null instead, and nothing in it is changed. */
export type Printable<T> = T extends readonly (infer Item)[]
  ? readonly Printable<Item>[]
  : T extends object
    ? string extends keyof T
      ? object
      : { readonly [Name in keyof T]: Printable<T[Name]> | (undefined extends T[Name] ? null : never) }
    : T;

/** Returns a body without the members that are absent; what is nested stays as it is. */
export function present<T extends object>(body: Printable<T>): T {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined)) as T;
}
