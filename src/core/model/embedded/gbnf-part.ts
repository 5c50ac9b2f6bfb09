/** Pieces of a grammar that are put together to larger ones; what need not stand in brackets does not. */
import { literal } from './gbnf-rules.js';

export interface Part {
  readonly text: string;
  /** Whether nothing at all can be written for it. */
  readonly isNullable: boolean;
  /** JSON text of a literal: literals that stand next to each other become one. */
  readonly json?: string;
  /** Of a sequence of more than one. */
  readonly members?: readonly Part[];
}

export const NOTHING: Part = { text: '', isNullable: true };

export function part(text: string, { isNullable = false }: { isNullable?: boolean } = {}): Part {
  return { text, isNullable };
}

export function literalPart(json: string): Part {
  return { text: literal(json), isNullable: false, json };
}

export function sequence(parts: readonly Part[]): Part {
  const members: Part[] = [];
  for (const next of parts.flatMap((one) => one.members ?? [one])) {
    const before = members.at(-1);
    if (next.json !== undefined && before?.json !== undefined)
      members.splice(-1, 1, literalPart(before.json + next.json));
    else if (next.text !== '') members.push(next);
  }
  const [only] = members;
  if (members.length < 2) return only ?? NOTHING;
  return {
    text: members.map(({ text }) => text).join(' '),
    isNullable: members.every(({ isNullable }) => isNullable),
    members,
  };
}

/** One of the parts; an empty one makes the others optional. */
export function choice(parts: readonly Part[]): Part {
  const texts = [...new Set(parts.map(({ text }) => text).filter((text) => text !== ''))];
  const [only] = parts;
  if (only && (parts.length === 1 || texts.length === 0)) return only;
  const isOptional = parts.some(({ text }) => text === '');
  return part(`(${texts.join(' | ')})${isOptional ? '?' : ''}`, {
    isNullable: parts.some(({ isNullable }) => isNullable),
  });
}

/** As it must stand before a count: single rules, literals and classes as they are. */
export function group({ text, json }: Part): string {
  const isSingle = json !== undefined || /^(?:[a-z]\w*|\[(?:\\.|[^\]\\])*\])$/.test(text);
  return isSingle ? text : `(${text})`;
}
