import { describe, expect, it } from '@jest/globals';
import { type PlanRequest, parseRequest } from '../../../src/core/request.js';
import type { Selection } from '../../../src/core/result.js';
import { mustRefer } from '../../../src/core/selection/must-refer.js';
import { makeTool, needing, returning, viewOf } from './setup.js';

const view = viewOf([
  makeTool('find_parcel', { inputSchema: needing('name'), outputSchema: returning('parcel_id') }),
  makeTool('parcel_weight', { inputSchema: needing('parcel_id', 'unit') }),
  makeTool('parcel_colour', { inputSchema: { type: 'object', properties: { parcel_id: { type: 'string' } } } }),
]);

function references(names: readonly string[], request: PlanRequest = { message: 'how heavy is my parcel' }): string[] {
  const tools = names.map((name) => ({ name, via: 'model' as const }));
  const selection: Selection = { mode: 'selected', reason: '', tools, dropped: [], leftOut: 0 };
  return mustRefer(view, selection, parseRequest(request)).map(
    ({ tool, argument, producers }) => `${tool}.${argument} from ${producers.join(', ')}`,
  );
}

describe('an argument must be a reference', () => {
  it('when a chosen tool provides it', () => {
    expect(references(['find_parcel', 'parcel_weight'])).toEqual(['parcel_weight.parcel_id from find_parcel']);
  });

  it.each<[string, readonly string[], PlanRequest | undefined]>([
    ['no chosen tool provides it', ['parcel_weight'], undefined],
    ['it is optional', ['find_parcel', 'parcel_colour'], undefined],
    ['the request holds the value', ['find_parcel', 'parcel_weight'], { message: 'weigh parcel AB-1234-X' }],
    ['an entity holds it', ['find_parcel', 'parcel_weight'], { message: 'weigh it', entities: { parcelId: 'x' } }],
  ])('not when %s', (_, names, request) => {
    expect(references(names, request)).toEqual([]);
  });
});
