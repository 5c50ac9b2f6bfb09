import { describe, expect, it } from '@jest/globals';
import { inventedIds } from '../../../src/core/planning/invented-ids.js';
import type { Step } from '../../../src/core/result.js';
import { createTool } from '../../support/create-tool.js';

const text = { type: 'string' };
const save = createTool('save', {
  properties: {
    project_id: text,
    ownerEmail: text,
    userID: { anyOf: [text, { type: 'integer' }] },
    region_id: { ...text, description: 'Such as eu-central-1' },
    path: text,
    api_key: text,
    folder_id: text,
  },
  required: ['project_id', 'ownerEmail', 'userID', 'region_id', 'path', 'api_key'],
});
const TOOLS = new Map([[save.name, save]]);
const SAID = 'Entities: team_id=t-77-a. Save the text in project 48219 for the user Anna Li (+1 555 0123), Paris.';
const inventedIn = (values: Step['arguments'], said = SAID) => {
  const step: Step = { id: 's1', tool: 'save', arguments: values, purpose: '', dependsOn: [] };
  return inventedIds([step], { tools: TOOLS, said });
};

describe('an identifier that nobody gave', () => {
  it('is told with its place and without its value', () => {
    expect(inventedIn({ project_id: '12345' })).toEqual([
      {
        step: 's1',
        problem:
          's1.arguments.project_id: nobody gave this identifier; leave the step out, refer to a step that finds it, or ask for it',
      },
    ]);
  });

  it.each([
    ['of digits', { project_id: '12345' }],
    ['of letters and digits', { project_id: 'prj-9f3a' }],
    ['an address', { ownerEmail: 'example@example.com' }],
    ['the name of the argument', { project_id: 'text_project_id' }],
    ['a blank', { project_id: '<project>' }],
    ['a placeholder', { project_id: 'your-project' }],
    ['the type', { project_id: 'string' }],
    ['a number', { userID: 90_210 }],
    ['with one word of the request among others', { project_id: 'paris-main-7' }],
  ])('is found: %s', (_, values) => {
    expect(inventedIn(values)).toHaveLength(1);
  });

  const GIVEN: [what: string, values: Step['arguments'], said?: string][] = [
    ['stands in the request', { project_id: '48219' }],
    ['stands in the request as a number', { userID: -48_219 }],
    ['stands in an entity, written otherwise', { project_id: 'T77A' }],
    ['stands in the request with other marks', { userID: '+1-555-0123' }],
    ['stands in the request without the country', { userID: '+86-13800138000' }, 'Call the number 13800138000'],
    ['consists of words of the request', { userID: 'anna.li7' }],
    ['is a reference', { project_id: '${s1.id}' }],
    ['stands in the description', { region_id: 'eu-central-1' }],
    ['is a name that all know', { region_id: 'Europe/Berlin' }],
    ['is a word', { project_id: 'primary' }],
    ['is a text', { ownerEmail: 'Dear Anna, 3 things' }],
    ['counts', { userID: 6 }],
    ['counts, as a text', { userID: '6' }],
    ['may be said in words', { userID: 25 }, '二十五号水库'],
    ['is none', { project_id: 'null' }],
    ['is no text and no number', { project_id: true }],
    ['is of an optional argument', { folder_id: '777' }],
    ['is a path, which may be new', { path: 'out/777.txt' }],
    ['is a key', { api_key: 'k-777' }],
    ['is missing', {}],
  ];
  it.each(GIVEN.map(([what, values, said = SAID]) => [what, values, said] as const))(
    'is not one that %s',
    (_, values, said) => {
      expect(inventedIn(values, said)).toEqual([]);
    },
  );

  it('is not one that a new thing is given by who makes it', () => {
    const ofCreate = (argument: string) => {
      const tool = createTool('create_task', { properties: { [argument]: text }, required: [argument] });
      const step: Step = { id: 's1', tool: tool.name, arguments: { [argument]: 't-9' }, purpose: '', dependsOn: [] };
      return inventedIds([step], { tools: new Map([[tool.name, tool]]), said: SAID });
    };
    expect([ofCreate('task_id').length, ofCreate('id').length, ofCreate('project_id').length]).toEqual([0, 0, 1]);
  });

  it('is looked for only in tools that are known', () => {
    const step: Step = { id: 's1', tool: 'other', arguments: { id: '777' }, purpose: '', dependsOn: [] };
    expect(inventedIds([step], { tools: TOOLS, said: SAID })).toEqual([]);
  });
});
