/** How much longer a prompt may become: of what is sent, and never passed by a candidate. */
import { describe, expect, it } from '@jest/globals';
import { tune } from '../../../src/evaluation/tune/tune.js';
import { aModel, isProposal, PLACES, tuneOptions } from './setup.js';

const RULE = 'For what runs, take the flow.';
const helps = (system: string) => system.includes('Answer: {"selected_tools": ["read_flow"]}');
const proposal = () => JSON.stringify({ diagnosis: 'flow is missed', instructions: `${RULE} ${PLACES}` });

async function tuned(maxTokensGrowth: number) {
  const model = aModel({ helps, proposal });
  const { prompts } = await tune(tuneOptions(model, { maxTokensGrowth, rounds: 2 }));
  const sizes = model.calls.filter((call) => !isProposal(call)).map(({ prompt }) => model.countTokens(prompt.system));
  return { report: prompts[0], tried: prompts[0]?.tried ?? [], first: sizes[0] ?? 0, largest: Math.max(...sizes) };
}

describe('the tokens that a prompt may grow by', () => {
  it('are a share of its stable part as it is sent', async () => {
    const { report, first } = await tuned(0.5);
    expect(report?.tokens.allowedGrowth).toBe(Math.floor(0.5 * first));
  });

  it('are not passed by any prompt that a model sees: a candidate that is longer is refused, and says why', async () => {
    const { report, tried, first, largest } = await tuned(0.01);
    expect(report).toMatchObject({ isChanged: false });
    const examples = tried.filter(({ kind }) => kind === 'examples');
    expect(examples.length).toBeGreaterThan(0);
    for (const { verdict, issues } of examples) {
      expect(verdict).toBe('refused');
      expect(issues?.join()).toMatch(/the prompt grows by \d+ tokens; \d are allowed \(--max-tokens-growth\)/u);
    }
    expect(largest).toBeLessThanOrEqual(first * 1.01);
  });

  it('leave room for an example where they are enough', async () => {
    const { report, first, largest } = await tuned(0.5);
    expect(report).toMatchObject({ isChanged: true });
    expect(largest).toBeGreaterThan(first);
    expect(largest).toBeLessThanOrEqual(first * 1.5);
  });
});
