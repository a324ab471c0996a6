/** Returns for what the key that is bound to a conversation is sealed. */
export const sealedFor = (number: number): string => `conversation:${number}`;
