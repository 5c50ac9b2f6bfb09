import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, namesOf, naming, plannerOf, TOOLS } from './setup.js';

const RELATED = TOOLS.map((tool, place) =>
  place % 3 === 0 ? { ...tool, relatedTools: [TOOLS[(place + 1) % TOOLS.length]?.name ?? ''] } : tool,
);
const PRIVATE = makeTool('secret_plan', { scope: { user: 'ann' } });
const ALL = [...RELATED, PRIVATE, makeTool('ask_user', { alwaysLoad: true })];
const NAMES = ALL.map(({ name }) => name);

const anyName = fc.oneof(
  fc.constantFrom(...NAMES, 'none'),
  fc.string(),
  fc.constantFrom('__proto__', 'constructor', ''),
);
const anyAnswer = fc.oneof(
  fc.array(anyName, { maxLength: 30 }).map((names) => naming(...names)),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.jsonValue().map((value) => JSON.stringify({ selected_tools: value })),
  fc.string(),
);
const anyRequest = fc.record({
  deny: fc.subarray(NAMES),
  require: fc.array(
    anyName.filter((name) => name !== ''),
    { maxLength: 4 },
  ),
  maxTools: fc.integer({ min: 1, max: 6 }),
});

describe('whatever a list model answers', () => {
  it('selects visible tools, each once, at most maxTools; after the fallback as many as there are', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyAnswer,
        anyAnswer,
        anyRequest,
        fc.constantFrom(0, 800),
        async (first, second, request, fillTokens) => {
          const model = createScriptedModel({ answers: (_request, index) => (index === 0 ? first : second) });
          const planner = plannerOf({ tools: ALL, model, options: { fillTokens } });
          const { deny } = request;
          const { mode, ...selected } = await planner.select({ message: 'coffee, mail and music', ...request });
          const visible = planner.view({ deny }).tools.map(({ name }) => name);
          const names = namesOf(selected);
          expect(new Set(names).size).toBe(names.length);
          expect(visible).toEqual(expect.arrayContaining(names));
          expect(names).not.toContain(PRIVATE.name);
          expect(names.length).toBeLessThanOrEqual(request.maxTools);
          if (mode === 'fallback') expect(names).toHaveLength(Math.min(visible.length, request.maxTools));
        },
      ),
      { numRuns: 40 },
    );
  });
});
