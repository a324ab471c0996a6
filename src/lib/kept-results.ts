/**
 * Returns a function that gives what `make` gave for the same text before. It keeps the results of the `most` newest
 * texts, so `make` must give the same again whenever it is called.
 */
export function keepResults<T>(most: number, make: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>();
  return (text) => {
    let result = kept.get(text);
    if (result !== undefined) return result;
    result = make(text);
    if (kept.size >= most) kept.delete(kept.keys().next().value ?? "");
    kept.set(text, result);
    return result;
  };
}
