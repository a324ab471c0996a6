/** The database of the browser, with promises. */

/** Settles as the request does. */
function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("The database refused.")));
  });
}

/**
 * Opens a database of version 1, which `create` fills with its stores the first time. Rejects where the browser gives
 * none.
 */
export async function openDatabase(name: string, create: (database: IDBDatabase) => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.addEventListener("upgradeneeded", () => create(request.result));
  return done(request);
}

/** Reads from one store. */
export async function read<T>(
  database: IDBDatabase,
  store: string,
  find: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  return done(find(database.transaction(store).objectStore(store)));
}

/** Changes one store. Resolves when the change is kept. */
export function change(
  database: IDBDatabase,
  store: string,
  make: (store: IDBObjectStore) => IDBRequest,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(store, "readwrite");
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("The database refused.")));
    make(transaction.objectStore(store));
  });
}
