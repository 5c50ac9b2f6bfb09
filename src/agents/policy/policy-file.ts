/** A policy from a file (JSON or YAML). If the file becomes invalid later, the previous policy stays, with a report. */
import { readFile } from 'node:fs/promises';
import { parseYaml } from '../../core/catalog/sources/yaml.js';
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
  try {
    return await parsePolicy(await readFile(path, 'utf8'));
  } catch (error) {
    const issues = error instanceof WinnowError ? error.issues : [];
    const what = error instanceof WinnowError ? '' : "can't be read: ";
    const message = `The policy file ${path}: ${what}${messageOf(error)}`;
    throw new WinnowError('invalid_option', message, { issues, cause: error });
  }
}

/** The text of a policy file, JSON or YAML. @throws WinnowError `invalid_option`, one issue a line with the path of the field. */
export async function parsePolicy(text: string): Promise<Policy> {
  const content = await parseYaml(text).catch((cause: unknown) => {
    throw new WinnowError('invalid_option', `The policy can't be read as JSON or YAML: ${messageOf(cause)}`, { cause });
  });
  // An empty file is more likely truncated than intended.
  if (content === null || content === undefined)
    throw new WinnowError('invalid_option', 'The policy is empty. For a policy of defaults write {}.');
  return createPolicy(content);
}
