/**
 * Deletes the caches that nothing needs any more, once the release of the cache `own` is in use. An open page of the
 * release before may still load parts of it, so that one's cache stays: the last that was made of those that hold
 * anything. An install that failed has left an empty one.
 */
export async function dropStale(caches: CacheStorage, own: string): Promise<void> {
  const others = (await caches.keys()).filter((name) => name !== own);
  const sizes = await Promise.all(others.map(async (name) => (await (await caches.open(name)).keys()).length));
  const before = others[sizes.findLastIndex((size) => size > 0)];
  await Promise.all(others.filter((name) => name !== before).map((name) => caches.delete(name)));
}
