import { describe, expect, it } from 'vitest';
import { readingsOf } from '../../src/core/set-apart.js';

const LONG = 'We met on Monday. Ann books the hall, Bo orders the cake. '.repeat(8).trim();
const HUGE = LONG.repeat(10);
const textsOf = (message: string) => readingsOf(message).map(({ text }) => text);

describe('a message is read to find tools', () => {
  it.each<[string, string, string[]]>([
    ['as it is', 'Weather in Oslo', ['Weather in Oslo']],
    ['as it is, however long', LONG, [LONG]],
    ['as it is with a quote', 'Put "good day" into French', ['Put "good day" into French']],
    ['first as a whole behind a colon', 'Into French: good day', ['Into French: good day', 'Into French: …']],
    ['first as a whole behind a wide colon', '翻译成法语：你好', ['翻译成法语：你好', '翻译成法语：…']],
    ['first as a whole behind a colon, however long', `Note: ${LONG}`, [`Note: ${LONG}`, 'Note: …']],
    ['without a long text in lines', `Note this:\n\n${LONG}\nBye`, ['Note this: …', `Note this: ${LONG} Bye`]],
    ['first as a whole in lines', `Hi,\n${LONG}\nFile it`, [`Hi, ${LONG} File it`, 'Hi, …', '… File it']],
    ['with the last of very long lines', `Hi,\n${HUGE}\nFile it`, ['Hi, … File it', 'Hi, …', '… File it']],
    ['without a very long first line', `${HUGE}\nFile it`, ['… File it', `${HUGE} …`]],
    ['without a very long last line', `File it\n${HUGE}`, ['File it …', `… ${HUGE}`]],
    ['without long fences', `File it\n\`\`\`\n${LONG}\n\`\`\``, ['File it ``` …```', `File it \`\`\` ${LONG} \`\`\``]],
    ['as it is if all is in a fence', `\`\`\`\n${LONG}\n\`\`\``, [`\`\`\` ${LONG} \`\`\``]],
    ['as it is where no word stands before the colon', `: ${LONG}`, [`: ${LONG}`]],
    ['as it is with a time of day', 'Table at 19:30', ['Table at 19:30']],
  ])('%s', (_, message, expected) => {
    expect(textsOf(message)).toEqual(expected);
  });

  it('without a text that fills a prompt, and never as a whole', () => {
    expect(textsOf(`Note:\n${'word '.repeat(5000)}`)).toEqual(['Note: …']);
  });

  it('and its asks are restored, each text up to 4000 characters', () => {
    const [asked] = readingsOf(`Note:\n${LONG}`);
    expect([asked.restore(asked.text), asked.restore('keep … as a note')]).toEqual([
      `Note: ${LONG}`,
      `keep ${LONG} as a note`,
    ]);
    const [long] = readingsOf(`Note:\n${'word '.repeat(5000)}`);
    expect(long.restore(long.text)).toHaveLength('Note: …'.length + 4000);
  });
});
