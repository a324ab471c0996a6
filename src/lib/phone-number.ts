const BARE = /^\+[1-9]\d{6,14}$/;
/** Codes of countries (ITU-T E.164): none begins with another. */
const COUNTRY = /^\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;
/** Italy, San Marino, and others whose numbers begin with a zero from abroad too. */
const KEEPS_ZERO = new Set(["+39", "+378", "+225", "+229", "+241", "+242"]);
const TRUNK_ZERO = /^(\+\d{1,3})[\s./-]*[([]\s*0\s*[)\]]/;

/**
 * Returns a phone number as `+4930901820`, or nothing for any other text.
 *
 * A zero in brackets behind the country is left out, because it is not dialled from abroad (ITU-T E.123). A
 * number that has one without brackets, or one of a country whose zero may belong to it, is refused: a message would go to
 * somebody else.
 */
export function phoneNumber(text: string): string | undefined {
  const plain = text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/\p{Pd}/gu, "-")
    .trim();
  const [zero, before] = TRUNK_ZERO.exec(plain) ?? [];
  if (before !== undefined && (COUNTRY.exec(before)?.[0] !== before || KEEPS_ZERO.has(before))) return undefined;
  const number = ((before ?? "") + plain.slice(zero?.length ?? 0)).replace(/[\s./()-]/g, "");
  const [country = ""] = COUNTRY.exec(number) ?? [];
  const isTrunk = number[country.length] === "0" && !KEEPS_ZERO.has(country);
  return BARE.test(number) && !isTrunk ? number : undefined;
}

/**
 * The two forms of a mobile number, as it is dialled and as WhatsApp may write it: Mexico dials the 1 behind 52 no more,
 * Argentina's 9 behind 54 is for calls from abroad, and Brazil has put a 9 before its mobile numbers.
 */
const OTHER_FORMS: readonly (readonly [form: RegExp, other: string])[] = [
  [/^\+521(?=\d{10}$)/, "+52"],
  [/^\+52(?=\d{10}$)/, "+521"],
  [/^\+549(?=\d{10}$)/, "+54"],
  [/^\+54(?=\d{10}$)/, "+549"],
  [/(?<=^\+55\d\d)9(?=[6-9]\d{7}$)/, ""],
  [/(?<=^\+55\d\d)(?=[6-9]\d{7}$)/, "9"],
];

/** Returns a number in each form that stands for the same telephone, itself first (https://faq.whatsapp.com/640432094208718). */
export function numberForms(number: string): string[] {
  const others = OTHER_FORMS.filter(([form]) => form.test(number)).map(([form, other]) => number.replace(form, other));
  return [number, ...others];
}
