import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { Command } from 'commander';
import { evalCommand } from '../../src/cli/eval-command.js';
import { workerCommand } from '../../src/cli/worker-command.js';

async function refusalOf(words: readonly string[]): Promise<string> {
  const stderr = jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
  const program = new Command('winnow').enablePositionalOptions().exitOverride();
  for (const command of [evalCommand(), workerCommand()]) program.addCommand(command.exitOverride());
  try {
    await program.parseAsync([...words], { from: 'user' });
    return 'nothing';
  } catch (error) {
    return String(error);
  } finally {
    stderr.mockRestore();
  }
}

const queue = ['--queue', 'redis://127.0.0.1:1'];

describe('refused, before anything is loaded', () => {
  it.each<[string, string[], string]>([
    ['a rate without a queue', ['eval', '--rate', '10/s'], '--rate goes with --queue'],
    ['a window without a queue', ['eval', '--window', '5'], '--window goes with --queue'],
    ['attempts without a queue', ['eval', '--attempts', '5'], '--attempts goes with --queue'],
    ['a time of loss without a queue', ['eval', '--lost-after', '5'], '--lost-after goes with --queue'],
    ['a rate without a time', ['eval', ...queue, '--rate', '10'], 'such as 10/s, 600/m or 5000/h'],
    ['a rate of nothing', ['eval', ...queue, '--rate', '0/s'], 'such as 10/s, 600/m or 5000/h'],
    [
      'cases at once, which are a matter of the worker',
      ['eval', ...queue, '-j', '2'],
      '--jobs does not go with --queue',
    ],
    [
      'a log of calls, which a worker has',
      ['eval', ...queue, '--call-log', 'x'],
      '--call-log does not go with --queue',
    ],
    [
      'a model server, which a worker has',
      ['eval', ...queue, '--base-url', 'http://127.0.0.1:1/v1'],
      '--base-url does not go with --queue',
    ],
    ['a model file, which a worker has', ['eval', ...queue, '--model-file', 'x'], '--model-file does not go with'],
    ['a key, which a worker has', ['eval', ...queue, '--api-key-env', 'X'], '--api-key-env does not go with'],
    [
      'a model for planning, which a worker has',
      ['eval', ...queue, '--planning-model', 'large'],
      '--planning-model does not go with --queue: give it to winnow worker',
    ],
    ['a worker without a queue', ['worker'], "required option '--queue <url>' not specified"],
    ['a worker without tools', ['worker', ...queue], 'give --suite SET or --catalog SOURCE'],
    [
      'options of the run at a worker',
      ['worker', ...queue, '--set', 'fillTokens=0', '--max-tools', '3'],
      '--set, --max-tools comes with each run',
    ],
  ])('%s', async (_, words, message) => {
    expect(await refusalOf(words)).toContain(message);
  });
});

it('takes the variables of an MCP configuration at a worker as everywhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-worker-'));
  const catalog = join(folder, 'mcp.json');
  writeFileSync(catalog, JSON.stringify({ mcpServers: { there: { url: '${WORKER_TEST_URL}' } } }));
  process.env.WORKER_TEST_URL = 'http://127.0.0.1:1/mcp';
  const model = ['--base-url', 'http://127.0.0.1:1/v1', '--model', 'm'];
  const refusal = await refusalOf(['worker', ...queue, ...model, '--catalog', `mcp:${catalog}`]);
  delete process.env.WORKER_TEST_URL;
  rmSync(folder, { recursive: true });
  expect(refusal).toContain('mcp.json#there');
  expect(refusal).not.toContain('is not set');
});
