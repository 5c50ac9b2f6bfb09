/** What can be left out of selection is left out in turn: no part's share stays unknown. */
import { expect, it } from '@jest/globals';
import { DEFAULT_STAGES } from '../../../src/core/selection/stages.js';
import { PARTS } from './winnow.js';

/** Without them a request is not served as it was asked: that is a contract, and no part that may be off. */
const CONTRACTS = ['wanted', 'cap'];

it.each(DEFAULT_STAGES.filter(({ name }) => !CONTRACTS.includes(name)).map((stage) => [stage.name, stage] as const))(
  'the stage "%s" has an ablation of its own',
  (_, stage) => {
    const alone = Object.values(PARTS).filter(({ without = [] }) => without.length === 1 && without[0] === stage);
    expect(alone).toHaveLength(1);
  },
);
