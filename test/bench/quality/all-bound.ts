/** No selection: all tools go to one call, as long as they fit the context. */
import { type Contestant, idleWhereGiven } from './contestant.js';
import { createSecondCall } from './second-call.js';

export const ALL_BOUND: Contestant = {
  id: 'all-bound',
  title: 'all tools bound in one call',
  group: 'peer',
  idleOn: idleWhereGiven,
  enter(arena) {
    const call = createSecondCall(arena);
    return {
      async answer(trial) {
        const reply = await call(trial, trial.tools);
        return reply.kind === 'answered' ? { ...reply, loaded: trial.tools.map(({ name }) => name) } : reply;
      },
    };
  },
};
