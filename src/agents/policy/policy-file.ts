/** A policy from a file (JSON or YAML). If the file becomes invalid later, the previous policy stays, with a report. */
import { readFile } from 'node:fs/promises';
import { messageOf, WinnowError } from '../../core/errors.js';
import { createPolicy, type Policy } from './policy.js';

export type PolicyReload =
  | { ok: true; isChanged: boolean; version: string }
  /** `version` is that of the policy that stays. */
  | { ok: false; version: string; reason: string; issues: readonly string[] };

export interface PolicySource {
  current(): Policy;
  /** Never throws. */
  reload(): Promise<PolicyReload>;
}

/**
 * A policy file that can be read again while the program runs.
 * @throws WinnowError `invalid_option` naming file and field; there is no policy to keep yet.
 * @example
 * const policy = await openPolicyFile('policy.yaml');
 */
export async function openPolicyFile(path: string): Promise<PolicySource> {
  const state = { policy: await loadPolicy(path) };
  return {
    current: () => state.policy,
    async reload() {
      const { version } = state.policy;
      try {
        const fresh = await loadPolicy(path);
        // An unchanged policy stays the same object, with its compiled parts.
        if (fresh.version === version) return { ok: true, isChanged: false, version };
        state.policy = fresh;
        return { ok: true, isChanged: true, version: fresh.version };
      } catch (error) {
        const issues = error instanceof WinnowError ? error.issues : [];
        return { ok: false, version, reason: messageOf(error), issues };
      }
    },
  };
}

/**
 * A policy that never changes.
 * @example
 * const policy = fixedPolicy(createPolicy({ default: 'allow' }));
 */
export function fixedPolicy(policy: Policy): PolicySource {
  return {
    current: () => policy,
    reload: async () => ({ ok: true, isChanged: false, version: policy.version }),
  };
}

async function loadPolicy(path: string): Promise<Policy> {
  const content = await readContent(path);
  // An empty file is more likely truncated than intended.
  if (content === null || content === undefined)
    throw new WinnowError('invalid_option', `The policy file ${path} is empty. For a policy of defaults write {}.`);
  try {
    return createPolicy(content);
  } catch (error) {
    if (!(error instanceof WinnowError)) throw error;
    throw new WinnowError('invalid_option', `${path}: ${error.message}`, { issues: error.issues, cause: error });
  }
}

async function readContent(path: string): Promise<object | null | undefined> {
  const { parse } = await import('yaml');
  try {
    return parse(await readFile(path, 'utf8'));
  } catch (error) {
    const message = messageOf(error);
    throw new WinnowError('invalid_option', `The policy file ${path} can't be read: ${message}`, { cause: error });
  }
}
