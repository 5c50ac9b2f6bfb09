/** What a request says of the number of tools holds for what the model is told and for what is handed on. */
import { describe, expect, it } from '@jest/globals';
import { createScriptedModel } from '../../support/scripted-model.js';
import { namesOf, naming, plannerOf } from './setup.js';

const NAMED = ['play_song', 'brew_coffee', 'read_mail'];

describe('the cap of a request', () => {
  it('is told to the model and obeyed by the cut, with what goes recorded', async () => {
    const model = createScriptedModel({ answers: [naming(...NAMED)] });
    const selected = await plannerOf({ model }).select({ message: 'coffee and a song', maxTools: 2 });
    expect(model.calls[0]?.prompt.user).toContain('At most 2 tools.');
    expect(namesOf(selected)).toEqual(NAMED.slice(0, 2));
    expect(selected.dropped).toEqual([{ name: 'read_mail', reason: 'cap' }]);
  });

  it('does not change the part of the prompt that is the same for all', async () => {
    const model = createScriptedModel({ answers: () => naming(...NAMED) });
    const planner = plannerOf({ model });
    for (const maxTools of [1, 5]) await planner.select({ message: 'coffee and a song', maxTools });
    const [one, other] = model.calls.map(({ prompt }) => prompt.system);
    expect(one).toBe(other);
  });

  it('says nothing where the request has none: the option is about the cut alone', async () => {
    const model = createScriptedModel({ answers: [naming(...NAMED)] });
    const selected = await plannerOf({ model, options: { maxTools: 1 } }).select({ message: 'coffee and a song' });
    expect(model.calls[0]?.prompt.user).not.toContain('At most');
    expect(namesOf(selected)).toEqual(['play_song']);
  });
});
