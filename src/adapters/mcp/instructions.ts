/** What the server tells a client's model of itself. Names of tools are those before a prefix. */

const FINDING =
  'This server has many tools and shows few. When no tool that you have fits: tool_search by what is to be done, ' +
  'tool_enable the names that fit, then call them.';
const CALLING = 'A tool that you enabled and do not see among your tools is called with tool_call.';
const PLANNING = 'For a request of several steps, plan writes them first.';
const REST =
  'Enabled tools last for some turns; enabling again prolongs. A refusal says why and what to do next. What is risky ' +
  'waits for the approval of another person: make the same call again later, and tell the user meanwhile.';

export function renderInstructions({ canPlan, followsList }: { canPlan: boolean; followsList: boolean }): string {
  return [FINDING, ...(followsList ? [] : [CALLING]), ...(canPlan ? [PLANNING] : []), REST].join(' ');
}
