/** Rewrites the forms of draft-03 to draft-07 and of OpenAPI into those of 2020-12. */

import type { Say } from './fit-context.js';
import { type Draft, isObject, typesOf } from './json.js';

export function rewriteOldForms(draft: Draft, say: Say): void {
  rewriteExclusiveBounds(draft, say);
  rewriteTuples(draft, say);
  rewriteDependencies(draft, say);
  rewriteExtends(draft, say);
  rename(draft, ['divisibleBy', 'multipleOf'], say);
  rename(draft, ['$recursiveRef', '$ref'], say);
  rename(draft, ['$dynamicRef', '$ref'], say);
  if (typeof draft.id === 'string') {
    delete draft.id;
    say('`id` of draft-04 names the schema only: left out');
  }
  if ('example' in draft) {
    draft.examples ??= [draft.example];
    delete draft.example;
    say('`example` written as `examples`');
  }
}

function rename(draft: Draft, [from, to]: readonly [string, string], say: Say): void {
  if (!(from in draft)) return;
  draft[to] ??= draft[from];
  delete draft[from];
  say(`\`${from}\` written as \`${to}\``);
}

function rewriteExclusiveBounds(draft: Draft, say: Say): void {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = draft[exclusive];
    if (typeof value !== 'boolean') continue;
    delete draft[exclusive];
    if (value && bound in draft) {
      draft[exclusive] = draft[bound];
      delete draft[bound];
    }
    say(`\`${exclusive}: ${value}\` of draft-04 written as 2020-12 wants it`);
  }
}

function rewriteTuples(draft: Draft, say: Say): void {
  if (Array.isArray(draft.items)) {
    draft.prefixItems ??= draft.items;
    delete draft.items;
    if ('additionalItems' in draft) draft.items = draft.additionalItems;
    say('a list of `items` written as `prefixItems`');
  }
  if ('additionalItems' in draft) {
    delete draft.additionalItems;
    if (!('prefixItems' in draft)) say('`additionalItems` means nothing without a list of `items`: left out');
  }
}

function rewriteDependencies(draft: Draft, say: Say): void {
  if (!isObject(draft.dependencies)) return;
  const entries = Object.entries(draft.dependencies).map(([name, value]) => {
    return [name, typeof value === 'string' ? [value] : value] as const;
  });
  const required = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => isObject(value));
  if (required.length > 0) draft.dependentRequired ??= Object.fromEntries(required);
  if (schemas.length > 0) draft.dependentSchemas ??= Object.fromEntries(schemas);
  delete draft.dependencies;
  say('`dependencies` written as `dependentRequired` and `dependentSchemas`');
}

function rewriteExtends(draft: Draft, say: Say): void {
  if (!('extends' in draft)) return;
  const parents = Array.isArray(draft.extends) ? draft.extends : [draft.extends];
  draft.allOf = [...(Array.isArray(draft.allOf) ? draft.allOf : []), ...parents];
  delete draft.extends;
  say('`extends` of draft-03 written as `allOf`');
}

/** After the types are read: `nullable` of OpenAPI becomes the type `null`. */
export function rewriteNullable(draft: Draft, say: Say): void {
  const nullable = draft.nullable ?? draft['x-nullable'];
  if (nullable === undefined) return;
  delete draft.nullable;
  delete draft['x-nullable'];
  if (nullable !== true) return;
  const types = typesOf(draft);
  if (types.length > 0) {
    if (!types.includes('null')) draft.type = [...types, 'null'];
    if (Array.isArray(draft.enum) && !draft.enum.includes(null)) draft.enum = [...draft.enum, null];
  } else if (Array.isArray(draft.anyOf)) draft.anyOf = [...draft.anyOf, { type: 'null' }];
  else if (typeof draft.$ref === 'string') {
    draft.anyOf = [{ $ref: draft.$ref }, { type: 'null' }];
    delete draft.$ref;
  }
  say('`nullable` written as the type null');
}
