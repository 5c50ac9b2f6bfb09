import { expect, it } from '@jest/globals';
import { reasonOf } from '../../../../src/core/catalog/sources/read.js';

it.each([
  [new Error('It is gone. '), 'It is gone'],
  [new Error('in v1.2'), 'in v1.2'],
  ['a text.', 'a text'],
])('the reason of a failure stands in the middle of a sentence: %s', (thrown, reason) => {
  expect(reasonOf(thrown)).toBe(reason);
});
