/** The operator's token of this machine: made at the first start, readable by the account that runs the server alone. */
import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, WinnowError } from '../core/errors.js';
import { cacheFolder } from '../core/model/store/model-file.js';

const TOKEN_BYTES = 32;
const OTHERS = 0o077;

export interface OperatorToken {
  readonly token: string;
  readonly path: string;
}

/** @param path default: `operator-token` in Winnow's own folder. @throws WinnowError `invalid_option` where it can't be kept */
export async function openOperatorToken(path = join(cacheFolder(), 'operator-token')): Promise<OperatorToken> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await create(path).catch(onOld);
    if (await isOfOthers(path)) await renew(path);
    const token = (await readFile(path, 'utf8')).trim();
    if (token.length >= TOKEN_BYTES) return { token, path };
    throw new Error('it is shorter than a token; remove it, and a new one is made');
  } catch (cause) {
    throw new WinnowError('invalid_option', `The operator's token ${path} is not usable: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Whoever could read or place the old one knows it. Windows tells neither mode nor owner. */
async function isOfOthers(path: string): Promise<boolean> {
  const file = await lstat(path);
  if (!file.isFile()) return true;
  return process.geteuid !== undefined && ((file.mode & OTHERS) !== 0 || file.uid !== process.geteuid());
}

async function renew(path: string): Promise<void> {
  await rm(path);
  await create(path);
}

async function create(path: string): Promise<void> {
  const whole = `${path}.${randomBytes(4).toString('hex')}`;
  await writeFile(whole, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 });
  // So that another process never reads half of it.
  await link(whole, path).finally(() => rm(whole));
}

function onOld(error: unknown): void {
  if (Object(error).code !== 'EEXIST') throw error;
}
