/**
 * How many steps a regular expression takes at worst, from its text alone: each repetition multiplies them by the length of
 * what it is tried on, each option or alternative by two, exact counts by their sum. A repeated group that can be matched
 * in several ways knows no bound: each further character may double its steps.
 */

/** By the number of characters; infinite where none is known. Steps of the text between the choices are not counted. */
export function stepsOf(pattern: string): (characters: number) => number {
  const plain = plainOf(pattern);
  if (repeatsChoice(plain, /^[*+{]/) || /\\(?:[1-9]|k<)/.test(pattern)) return () => Number.POSITIVE_INFINITY;
  const repetitions = plain.match(/[*+]|\{\d+,\d*\}/g)?.length ?? 0;
  const counted = [...plain.matchAll(/\{(\d+)\}/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  const options = plain.replace(/([*+?}])\?/g, '$1').match(/[?|]/g)?.length ?? 0;
  // All others begin at each character.
  const beginsOnce = plain.startsWith('^') && !plain.includes('|');
  const factor = 2 ** options * Math.max(counted, 1);
  return (characters) => Math.max(characters, 1) ** (repetitions + (beginsOnce ? 0 : 1)) * factor;
}

/** Whether there are short texts that would take it years. */
export function canRunAway(pattern: string): boolean {
  return repeatsChoice(plainOf(pattern), /^(?:[*+]|\{\d+,\})/);
}

/** What is escaped, or a class, is one character like any other. */
function plainOf(pattern: string): string {
  return pattern
    .replace(/\\./gs, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/\(\?(?:<?[=!]|:|<\w+>)/g, '(');
}

/** Whether a group is repeated (as the form says) that holds a repetition, an option or an alternative itself. */
function repeatsChoice(plain: string, repeated: RegExp): boolean {
  const holdsChoice = [false];
  for (let index = 0; index < plain.length; index++) {
    const character = plain.charAt(index);
    const top = holdsChoice.length - 1;
    if (character === '(') holdsChoice.push(false);
    else if (/[*+?|{]/.test(character)) holdsChoice[top] = true;
    else if (character === ')' && top > 0) {
      const holds = holdsChoice.pop() ?? false;
      if (holds && repeated.test(plain.slice(index + 1))) return true;
      holdsChoice[top - 1] ||= holds;
    }
  }
  return false;
}
