/**
 * Plans that a user saves under a name, to run them again with other inputs. They are checked against the current tools
 * when saved, and identified by a hash. No secret is saved: what a tool's schema marks secret has to be an input.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Catalog } from '../core/catalog/catalog.js';
import { leavesOf } from '../core/catalog/schema/json.js';
import { createScope } from '../core/catalog/scope.js';
import type { Tool } from '../core/catalog/tool.js';
import { WinnowError } from '../core/errors.js';
import { nearHint } from '../core/nearest-name.js';
import { parseInput } from '../core/parse.js';
import { checkPlan } from '../core/planning/check-plan.js';
import { createIssues, showName, showNames } from '../core/planning/issues.js';
import { MASK } from '../core/secret-forms.js';
import { canonicalHash } from './approvals/canonical-json.js';
import { instantSchema } from './contracts.js';
import { hiddenTools } from './policy/decide.js';
import type { Policy } from './policy/policy.js';
import { createMasking, secretsAmong } from './runs/mask-secrets.js';
import { type ParsedPlan, planSummarySchema, runnablePlanSchema, summaryOf } from './runs/plan-run.js';
import { orderSteps } from './runs/step-order.js';
import type { Documents } from './store/sql/keyed-records.js';
import type { DocumentRecord } from './store/store.js';

/** For one user; a larger library belongs in a repository. */
const MAX_PLANS = 200;
const MAX_BYTES = 262_144;

export const planNameSchema = z
  .string()
  .regex(/^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,99}$/u, 'letters, digits, "_", "." and "-", at most 100')
  .describe('Name of the plan, unique for its user.');
const hashSchema = z.string().regex(/^[0-9a-f]{64}$/u, 'a SHA-256 in hexadecimal');

export const keepPlanSchema = z.strictObject({
  name: planNameSchema,
  plan: runnablePlanSchema.describe('As POST /v1/plan answers it, with inputs, `each` and `when` where you add them.'),
  replaces: hashSchema
    .optional()
    .describe('Hash of the plan that it replaces. Absent: no plan may have this name yet.'),
});
export type KeepPlan = z.input<typeof keepPlanSchema>;

export const keptPlanSchema = z.object({
  name: planNameSchema,
  hash: hashSchema.describe('Hash of goal, inputs and steps: equal plans have equal hashes.'),
  plan: runnablePlanSchema,
  updatedAt: instantSchema,
});
export type KeptPlan = z.output<typeof keptPlanSchema>;

const summarySchema = planSummarySchema.extend({ hash: keptPlanSchema.shape.hash });
/** Without the plan itself, which a list does not read. */
export const listedPlanSchema = keptPlanSchema.omit({ plan: true }).extend(summarySchema.shape);
export type ListedPlan = z.output<typeof listedPlanSchema>;

interface KeptPlansParts {
  /** The tools of all users; a plan is checked against those that its user sees. */
  catalog: () => Catalog;
  store: Documents;
  /** Tools that it hides from a caller count as unknown. Default: it hides nothing. */
  policy?: (() => Policy) | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

/** Each method throws WinnowError `store_failed`. A plan of another user looks like one that does not exist. */
export interface KeptPlans {
  /**
   * @param roles of the user
   * @throws WinnowError `invalid_request` with one issue per line; `conflict` where the stored plan is not `replaces`
   */
  keep(user: string, plan: KeepPlan, roles?: readonly string[]): Promise<KeptPlan>;
  /** @throws WinnowError `not_found` */
  get(user: string, name: string): Promise<KeptPlan>;
  /** Sorted by name. */
  list(user: string): Promise<ListedPlan[]>;
  /** @throws WinnowError `not_found` */
  remove(user: string, name: string): Promise<void>;
}

/**
 * Plans by name, for each user their own.
 * @example
 * const plans = createKeptPlans({ catalog: () => catalog, store: store.plans });
 * await plans.keep('ann', { name: 'morning', plan });
 */
export function createKeptPlans({ catalog, store, policy, clock = () => new Date() }: KeptPlansParts): KeptPlans {
  return {
    async keep(user, input, roles = []) {
      const { name, plan, replaces } = parseInput(keepPlanSchema, input);
      const { tools, byName } = createScope(catalog())({ user });
      const hidden = new Set(policy ? hiddenTools(policy(), tools, { user, roles: [...roles] }) : []);
      await checkKept(plan, new Map([...byName].filter(([one]) => !hidden.has(one))));
      const before = await store.get(user, name);
      const updatedAt = clock().toISOString();
      const kept = { name, hash: canonicalHash(plan), plan, updatedAt };
      const summary = { ...summaryOf(plan), hash: kept.hash };
      const isCurrent = replaces === (before && parseKept(before).hash);
      const reason = `${name} ${kept.hash}`;
      const entry = { event: 'plan_kept', outcome: 'allowed', user, reason, at: updatedAt } as const;
      const document = { owner: user, name, content: plan, summary, updatedAt };
      if (!isCurrent || !(await store.replace(document, before, entry, checkRoomFor(name))))
        throw conflict(name, before !== undefined);
      return kept;
    },

    async get(user, name) {
      const found = await store.get(user, name);
      if (!found) throw unknown(name);
      return parseKept(found);
    },

    async list(user) {
      const listed: ListedPlan[] = [];
      for (const { name, updatedAt, summary } of await store.summaries(user)) {
        const known = summarySchema.safeParse(summary).data ?? (await summarize(user, name));
        if (known) listed.push({ name, updatedAt, ...known });
      }
      return listed;
    },

    async remove(user, name) {
      const entry = {
        event: 'plan_removed',
        outcome: 'allowed',
        user,
        reason: name,
        at: clock().toISOString(),
      } as const;
      if (!(await store.remove(user, name, entry))) throw unknown(name);
    },
  };

  /** Once, of a plan that an earlier version of Winnow stored. */
  async function summarize(user: string, name: string) {
    const found = await store.get(user, name);
    if (!found) return undefined;
    const { plan, hash } = parseKept(found);
    const summary = { ...summaryOf(plan), hash };
    await store.replace({ ...found, summary }, found);
    await nextTurn();
    return summary;
  }
}

function checkRoomFor(name: string) {
  return (own: readonly { readonly name: string }[]) => {
    if (own.length >= MAX_PLANS && !own.some((one) => one.name === name))
      throw unusable([`name: you keep ${own.length} plans, and more are not kept; remove one first`]);
  };
}

function parseKept({ name, content, updatedAt }: DocumentRecord): KeptPlan {
  const plan = runnablePlanSchema.parse(content);
  return { name, hash: canonicalHash(plan), plan, updatedAt };
}

/** @throws WinnowError `invalid_request` */
async function checkKept(plan: ParsedPlan, tools: ReadonlyMap<string, Tool>): Promise<void> {
  const bytes = Buffer.byteLength(JSON.stringify(plan));
  if (bytes > MAX_BYTES) throw unusable([`plan: it has ${bytes} bytes, and ${MAX_BYTES} are kept at most`]);
  orderSteps(plan);
  const unknown = plan.steps.filter(({ tool }) => !tools.has(tool));
  if (unknown.length > 0) {
    const names = [...tools.keys()];
    const issues = createIssues();
    issues.addEach(
      unknown,
      ({ id, tool }) => `${id}.tool: there is no tool "${showName(tool)}"${nearHint(tool, names)}`,
    );
    throw unusable(issues.lines());
  }
  const named = new Set(plan.steps.map(({ tool }) => tool));
  const used = new Map([...tools].filter(([name]) => named.has(name)));
  const checked = await checkPlan(plan.steps, used, { inputs: plan.inputs && Object.keys(plan.inputs) });
  const issues = [...(checked.ok ? [] : checked.issues), ...secretsOf(plan, used)];
  if (issues.length > 0) throw unusable(issues);
}

/** Secrets in the plan itself, each with what to write instead. */
function secretsOf(plan: ParsedPlan, tools: ReadonlyMap<string, Tool>): string[] {
  const hidden = createMasking(secretsAmong((name) => tools.get(name))).plan(plan);
  const inputs = Object.entries(hidden.inputs ?? {}).filter(([, { isMasked }]) => isMasked);
  const issues = createIssues();
  issues.addEach(inputs, ([name]) => `inputs.${name}.value: is secret and not kept; leave it out`);
  for (const { id, arguments: given } of hidden.steps) {
    const secrets = leavesOf(given).filter(({ value }) => value === MASK);
    const placeOf = (path: readonly (string | number)[]) => [`${id}.arguments`, ...showNames(path)].join('.');
    issues.addEach(
      secrets,
      ({ path }) => `${placeOf(path)}: is secret and not kept; make it an input, "\${input.NAME}"`,
    );
  }
  return issues.lines();
}

function unusable(issues: readonly string[]): WinnowError {
  return new WinnowError('invalid_request', `The plan can't be kept: ${issues.join('; ')}.`, { issues });
}

function conflict(name: string, isThere: boolean): WinnowError {
  const what = isThere ? `A plan "${name}" is kept with another hash` : `No plan "${name}" is kept any more`;
  return new WinnowError('conflict', `${what}. Read it again, and give its hash as "replaces".`);
}

function unknown(name: string): WinnowError {
  return new WinnowError('not_found', `You keep no plan "${name.slice(0, 100)}".`);
}
