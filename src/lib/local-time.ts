/** Returns a moment on the reader's own clock, such as `2026-11-23 20:05 CET`; a number beyond all moments is not valid. */
export function localTime(at: number | string): string {
  if (Number.isNaN(new Date(at).getTime())) return "a time that is not valid";
  const parts = new Intl.DateTimeFormat("en-GB", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  }).formatToParts(new Date(at));
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? "";
  return `${of("year")}-${of("month")}-${of("day")} ${of("hour")}:${of("minute")} ${of("timeZoneName")}`;
}
