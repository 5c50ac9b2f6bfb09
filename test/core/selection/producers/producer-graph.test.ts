import { describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../../src/core/catalog/tool.js';
import { createProducerGraph, producerGraphOf } from '../../../../src/core/selection/producers/producer-graph.js';
import { makeTool, needing, returning, viewOf } from '../setup.js';

const consumer = makeTool('parcel_weight', { description: 'Weighs.', inputSchema: needing('parcel_id') });

function isProducer(producer: Tool): boolean {
  const graph = createProducerGraph([producer, consumer]);
  const [need] = graph.needsOf(consumer.name);
  if (!need) throw new Error('no need');
  return graph.produces(producer.name, need);
}

describe('who produces what', () => {
  it.each<[string, Record<string, unknown>]>([
    ['a field of that name', returning('parcel_id')],
    ['that name in another spelling', returning('parcelId')],
    ['the id inside a container of that kind', { type: 'object', properties: { parcel: returning('id') } }],
    [
      'the id inside a list of that kind',
      { type: 'object', properties: { parcels: { type: 'array', items: returning('id') } } },
    ],
    ['a list of things with such a field', { type: 'array', items: returning('parcel_id') }],
  ])('an output schema with %s', (_, outputSchema) => {
    expect(isProducer(makeTool('lookup', { outputSchema }))).toBe(true);
  });

  it.each<[string, Record<string, unknown>]>([
    ['other fields only', returning('colour')],
    ['the id of another thing', returning('invoice_id')],
  ])('not an output schema with %s', (_, outputSchema) => {
    expect(isProducer(makeTool('lookup', { outputSchema }))).toBe(false);
  });

  it('a name and a description where there is no output schema', () => {
    expect(isProducer(makeTool('search_parcels', { description: 'Finds parcels.' }))).toBe(true);
    expect(isProducer(makeTool('search_songs', { description: 'Finds songs.' }))).toBe(false);
  });

  it('not a tool that asks for the same itself', () => {
    expect(
      isProducer(makeTool('track', { inputSchema: needing('parcel_id'), outputSchema: returning('parcel_id') })),
    ).toBe(false);
  });

  it('a tool that the description of the argument names', () => {
    const inputSchema = {
      type: 'object',
      properties: { parcel_id: { type: 'string', description: 'From post_office.' } },
      required: ['parcel_id'],
    };
    const graph = createProducerGraph([makeTool('post_office'), makeTool('parcel_weight', { inputSchema })]);
    const [need] = graph.needsOf('parcel_weight');
    expect(need && graph.surelyProduces('post_office', need)).toBe(true);
  });

  it('not a tool whose words the consumer has in its own name', () => {
    const described = { type: 'string', description: 'The person for whom parcel weights are found.' };
    const inputSchema = { type: 'object', properties: { person_id: described }, required: ['person_id'] };
    const names = { consumer: 'parcel_weights', producer: 'detail_parcel_weights' };
    const sure = (consumer: string) => {
      const graph = createProducerGraph([makeTool(names.producer), makeTool(consumer, { inputSchema })]);
      const [need] = graph.needsOf(consumer);
      return need && graph.surelyProduces(names.producer, need);
    };
    expect(sure('costs')).toBe(true);
    expect(sure(names.consumer)).toBe(false);
  });

  it('a value of an enum, by its last word: a user_interface is no user', () => {
    const helpOn = (...subjects: string[]) =>
      makeTool('list_help', { inputSchema: { type: 'object', properties: { on: { enum: subjects } } } });
    expect(isProducer(helpOn('parcel_counter', 'window'))).toBe(false);
    expect(isProducer(helpOn('counter', 'lost_parcel'))).toBe(true);
  });

  it('for sure not a tool that creates a thing, unless it tells what it returns', () => {
    const consumer = makeTool('weigh', { inputSchema: needing('parcel_id') });
    const isSure = (outputSchema?: Record<string, unknown>) => {
      const graph = createProducerGraph([makeTool('create_parcel', outputSchema ? { outputSchema } : {}), consumer]);
      const [need] = graph.needsOf('weigh');
      return need && graph.surelyProduces('create_parcel', need);
    };
    expect(isSure()).toBe(false);
    expect(isSure(returning('parcel_id'))).toBe(true);
  });

  it('is weaker from another server', () => {
    const ownSchema = { outputSchema: returning('parcel_id') };
    const graph = createProducerGraph([
      makeTool('list_far', { ...ownSchema, origin: 'elsewhere' }),
      makeTool('list_near', ownSchema),
      consumer,
    ]);
    const [need] = graph.needsOf('parcel_weight');
    expect(need && graph.producersOf(need).map(({ producer }) => producer.name)).toEqual(['list_near', 'list_far']);
  });

  it('is bounded, strongest first', () => {
    const many = Array.from({ length: 40 }, (_, place) =>
      makeTool(`list_${place}`, { outputSchema: returning('parcel_id') }),
    );
    const graph = createProducerGraph([...many, consumer]);
    const [need] = graph.needsOf('parcel_weight');
    const found = need ? graph.producersOf(need) : [];
    expect(found.length).toBeLessThanOrEqual(16);
    expect(found.map((one) => one.strength)).toEqual(found.map((one) => one.strength).sort((a, b) => b - a));
  });

  it('knows nothing of an unknown tool', () => {
    expect(createProducerGraph([consumer]).needsOf('nobody')).toEqual([]);
  });

  it('is built once a view', () => {
    const view = viewOf([consumer]);
    expect(producerGraphOf(view)).toBe(producerGraphOf(view));
  });
});
