import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { keepStdout } from '../../src/cli/keep-stdout.js';

it('keeps stdout for one writer: the rest goes to stderr, until it is released', () => {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const stderr = new PassThrough({ encoding: 'utf8' });
  const kept = keepStdout({ stdout, stderr });
  stdout.write('chatter\n');
  kept.stdout.write('{"id": 1}\n');
  kept.release();
  stdout.write('later\n');
  expect([stdout.read(), stderr.read()]).toEqual(['{"id": 1}\nlater\n', 'chatter\n']);
});

it('says to its writer that the reader is gone, and to nobody else', async () => {
  const stdout = new PassThrough();
  const kept = keepStdout({ stdout, stderr: new PassThrough() });
  const failed = new Promise((resolve) => kept.stdout.on('error', resolve));
  stdout.destroy(new Error('EPIPE'));
  kept.stdout.write('{"id": 1}\n');
  await expect(failed).resolves.toMatchObject({ code: expect.any(String) });
});
