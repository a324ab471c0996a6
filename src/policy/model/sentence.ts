const LONGEST = 200;
/** The place of an argument in the sentence of a function: `{amount}`. */
export const PLACEHOLDER = /\{([^{}]{1,100})\}/g;

/** Returns whether a text can be the sentence of a function: it names an argument, and no brace stands alone. */
export function isSentence(text: string): boolean {
  const rest = text.replace(PLACEHOLDER, "");
  return text.length <= LONGEST && rest !== text && !/[{}\r\n]/.test(rest);
}
