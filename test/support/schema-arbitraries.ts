/** Random schemas, each with a valid value written in the order of its properties. */
import fc from 'fast-check';
import type { JsonSchema } from '../../src/core/catalog/tool.js';
import { anyCharacter } from './any-character.js';

export interface Sample {
  schema: JsonSchema;
  value: unknown;
}

export interface ObjectSample {
  schema: { type: 'object'; properties: Record<string, JsonSchema>; required: string[]; additionalProperties: false };
  value: Record<string, unknown>;
}

const text = fc.string({ unit: anyCharacter, maxLength: 8 });
const name = fc.oneof(fc.stringMatching(/^[a-z_]{1,5}$/), fc.constantFrom('"', 'a|b', '数量', 'x y', '\\', 'Ü'));
const isoDate = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

const scalar: fc.Arbitrary<Sample> = fc.oneof(
  text.map((value) => ({ schema: { type: 'string' }, value })),
  fc.string({ maxLength: 9 }).map((value) => {
    return { schema: { type: 'string', minLength: [...value].length, maxLength: [...value].length + 2 }, value };
  }),
  isoDate.map((value) => ({ schema: { type: 'string', format: 'date-time' }, value })),
  isoDate.map((value) => ({ schema: { type: 'string', format: 'date' }, value: value.slice(0, 10) })),
  isoDate.map((value) => ({ schema: { type: 'string', format: 'time' }, value: value.slice(11, 16) })),
  fc.maxSafeInteger().map((value) => ({ schema: { type: 'integer' }, value })),
  fc.nat().map((value) => ({ schema: { type: 'integer', minimum: 0 }, value })),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => ({ schema: { type: 'number' }, value: value === 0 ? 0 : value })),
  fc.boolean().map((value) => ({ schema: { type: 'boolean' }, value })),
  fc.constant({ schema: { type: ['integer', 'null'] }, value: null }),
  text.map((value) => ({ schema: { type: ['null', 'string'] }, value })),
  fc.array(fc.oneof(text, fc.integer()), { minLength: 1, maxLength: 4 }).map((values) => {
    return { schema: { enum: values }, value: values[values.length - 1] };
  }),
  fc.oneof(text, fc.boolean()).map((value) => ({ schema: { const: value }, value })),
  fc.jsonValue({ maxDepth: 2 }).map((value) => ({ schema: {}, value: plainZero(value) })),
);

/** -0 is written "0", so that it can't be told from 0 afterwards. */
function plainZero(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 2, arbitrary: objectOf(tie('sample')) },
    { weight: 1, arbitrary: listOf(tie('sample')) },
    { weight: 1, arbitrary: tupleOf(tie('sample')) },
    { weight: 1, arbitrary: choiceOf(tie('sample')) },
    { weight: 1, arbitrary: mapOf(tie('sample')) },
  ),
}));

function objectOf(member: fc.Arbitrary<Sample>): fc.Arbitrary<ObjectSample> {
  const members = fc.tuple(name, member, fc.boolean(), fc.boolean());
  return fc.uniqueArray(members, { selector: ([key]) => key, maxLength: 6 }).map((list) => ({
    schema: {
      type: 'object',
      properties: Object.fromEntries(list.map(([key, { schema }]) => [key, schema])),
      required: list.filter(([, , required]) => required).map(([key]) => key),
      additionalProperties: false,
    },
    value: Object.fromEntries(
      list.filter(([, , required, given]) => required || given).map(([key, { value }]) => [key, value]),
    ),
  }));
}

function listOf(member: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.record({ item: member, count: fc.nat(4), low: fc.nat(4), high: fc.nat(3) }).map((made) => {
    const { item, count, low, high } = made;
    const schema = { type: 'array', items: item.schema, minItems: Math.min(low, count), maxItems: count + high };
    return { schema, value: Array.from({ length: count }, () => item.value) };
  });
}

function tupleOf(member: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const parts = fc.array(member, { minLength: 1, maxLength: 3 });
  return fc.record({ parts, rest: member, more: fc.nat(2), cut: fc.nat(3) }).map(({ parts, rest, more, cut }) => {
    const whole = [...parts.map(({ value }) => value), ...Array.from({ length: more }, () => rest.value)];
    const value = whole.slice(0, Math.max(whole.length - cut, 0));
    const prefixItems = parts.map(({ schema }) => schema);
    return { schema: { type: 'array', prefixItems, items: rest.schema, minItems: value.length }, value };
  });
}

function choiceOf(member: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.tuple(member, member, fc.boolean()).map(([one, other, swap]) => ({
    schema: { anyOf: swap ? [other.schema, one.schema] : [one.schema, other.schema] },
    value: one.value,
  }));
}

function mapOf(member: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.tuple(member, fc.uniqueArray(name, { maxLength: 3 })).map(([{ schema, value }, names]) => ({
    schema: { type: 'object', additionalProperties: schema },
    value: Object.fromEntries(names.map((key) => [key, value])),
  }));
}

/** A schema of an object, with a value that is valid under it. */
export const objectSample: fc.Arbitrary<ObjectSample> = objectOf(sample);
