/**
 * Whether a value stands in a text as it is, and nowhere as a part of something longer: masking it then leaves nothing of
 * what was meant. Rather too seldom than too often: whoever is told no leaves the text out.
 */

/** Inside of marks, to the end of the line where none closes them; a mark behind a letter is an apostrophe. */
const QUOTED = /"((?:[^"\\\n]|\\.)*)"?|(?<![\p{L}\p{N}])'([^'\n]*)'?|“([^”\n]*)”?|「([^」\n]*)」?/gu;
const OPEN_BEFORE = /(?:^|[\s"'`\p{Ps}\p{Pi}:=,;，。：；、！？])$/u;
const OPEN_BEHIND = /^[.,;:!?]*(?:$|[\s"'`\p{Pe}\p{Pf}，。：；、！？])/u;
/** Chinese has no space between words: beside letters of another script it ends them. */
const HAN = /\p{Script=Han}/u;

export function standsWhole(text: string, value: string): boolean {
  const forms = [...new Set([value, JSON.stringify(value).slice(1, -1)])];
  const quotations = [...text.matchAll(QUOTED)].map(
    (found) => found.slice(1).find((inner) => inner !== undefined) ?? '',
  );
  if (quotations.some((inner) => !forms.includes(inner) && forms.some((form) => inner.includes(form)))) return false;
  const places = forms.flatMap((form) => placesOf(text, form).map((start) => ({ start, end: start + form.length })));
  return places.length > 0 && places.every((place) => isAlone(text, place));
}

function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0 && part !== ''; at = text.indexOf(part, at + 1)) places.push(at);
  return places;
}

function isAlone(text: string, { start, end }: { start: number; end: number }): boolean {
  const [before, behind] = [text.slice(Math.max(0, start - 2), start), text.slice(end, end + 8)];
  const endsHan = (one: string, other: string) => HAN.test(one) && !HAN.test(other);
  return (
    (OPEN_BEFORE.test(before) || endsHan(before.slice(-1), text.slice(start, start + 1))) &&
    (OPEN_BEHIND.test(behind) || endsHan(behind.slice(0, 1), text.slice(end - 1, end)))
  );
}
