const FORMER = '"is":"';

/** Returns a stored value of several kinds; rows of version 0.2.0 and before name its kind `is`. */
export function readKinds<T>(json: string): T {
  // An escaped quotation mark stands before the closing one of a text, so that no text holds this.
  return JSON.parse(json.includes(FORMER) ? json.replaceAll(/(?<!\\)"is":"/g, '"kind":"') : json) as T;
}
