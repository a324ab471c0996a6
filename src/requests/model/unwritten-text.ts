/**
 * Text messages that nobody has written: a reaction to a message of ours, which a phone that cannot show it gets as
 * text, and the answer of a phone whose owner drives.
 */

/** Words that every text message of ours has (`channels/twilio/message.ts`); a reaction quotes it from its beginning. */
const OURS = "(a program) asks:";
const QUOTE = /["“„«»‘‚「『]/;
/** The longest sentence before the quotation, in the languages of phones. */
const LONGEST_BEFORE = 60;
/** Reactions of iPhones and of Android whose quotation ends before those words. */
const REACTION =
  /^(?:Liked|Loved|Disliked|Laughed at|Emphasi[sz]ed|Questioned|Reacted \S{1,30} to|Removed an? [\w ]{1,30} from|[^\p{L}\p{N}\s"“]{1,30} to)\s{1,3}["“][^]*["”]$/u;
const DRIVES =
  /^(?:I['’]m driving (?:with (?:Focus|Do Not Disturb While Driving) turned on|right now)\b|\(I['’]m not receiving notifications\.)/i;

/** Returns whether a text message is a reaction or an automatic answer, and so no answer of a person. */
export function isUnwritten(text: string): boolean {
  const words = text.replace(/[\u200a-\u200f\ufeff]/g, "").trim();
  const quotedAt = words.search(QUOTE);
  const ours = words.indexOf(OURS);
  const quotesOurs = quotedAt > 0 && quotedAt <= LONGEST_BEFORE && ours > quotedAt;
  return quotesOurs || REACTION.test(words) || DRIVES.test(words);
}
