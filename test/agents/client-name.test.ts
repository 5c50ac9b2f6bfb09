import { describe, expect, it } from '@jest/globals';
import { clientName } from '../../src/agents/meta-tools.js';

const NONE: ReadonlySet<string> = new Set();

describe('the name that a client sees', () => {
  it('is the own one where it fits', () => {
    expect(clientName('file_read', NONE)).toBe('file_read');
  });

  it('of one tool is never that of another, also where the other has the form of a shown name', () => {
    const shown = clientName('查询水库', NONE);
    expect(shown).toMatch(/^tool_[0-9a-f]{8}$/);
    expect(clientName(shown, NONE)).not.toBe(shown);
  });
});
