/**
 * The steps of a plan as durable jobs of BullMQ. A worker that is killed leaves its job to the next one, and each request to
 * Winnow has the id of its job as `Idempotency-Key`: what Winnow has begun for the dead worker is waited for, not done again.
 *
 *     bullmq-worker.ts redis://127.0.0.1:6379 http://127.0.0.1:8787 [seconds until a dead worker's job is taken over]
 *
 * `new Queue('plans').add('plan', { message }, { jobId: 'order-7', attempts: 5 })` asks for a plan. This job returns
 * Winnow's `answer`, and as `last` the id of the job of the plan's last step. That one returns the results of all steps.
 */
import { DelayedError, FlowProducer, type Job, UnrecoverableError, Worker } from 'bullmq';

const [, , redis = '', winnow = '', seconds = '30'] = process.argv;
const connection = { url: redis };
const flows = new FlowProducer({ connection });
const again = { attempts: 12, backoff: { type: 'exponential', delay: 200 } };

async function ask(path: string, body: object, key: string) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key, 'x-winnow-user': 'ann' };
  const answer = await fetch(`${winnow}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const content = JSON.parse(await answer.text());
  if (answer.ok) return content;
  // What passes is tried again. All else is not: after `outcome_unknown`, a person has to look what the step has done.
  const isFinal = answer.status < 500 && !['conflict', 'overloaded', 'quota_exceeded'].includes(content.code);
  throw new (isFinal ? UnrecoverableError : Error)(`Winnow answers ${content.code}: ${content.detail}`);
}

/** Asks for a plan, and adds its steps. The plan is kept with the job: a second worker goes on with it, and asks no model. */
async function plan(job: Job) {
  const id = String(job.id);
  const answer = job.data.answer ?? (await ask('/v1/plan', { message: job.data.message }, `${id}-plan`));
  if (answer.kind !== 'plan') return { answer };
  await job.updateData({ ...job.data, answer });
  const session = (await ask('/v1/sessions', {}, `${id}-session`)).id;
  const names = answer.steps.map(({ tool }: { tool: string }) => tool);
  await ask(`/v1/sessions/${session}/enable`, { names: [...new Set(names)] }, `${id}-enable`);
  // A job of a flow waits for its children, and each has one parent. So the steps are a chain, the first one innermost.
  let chain: Parameters<typeof flows.add>[0] | undefined;
  for (const step of answer.steps) {
    const opts = { ...again, jobId: `${id}-${step.id}`, failParentOnFailure: true };
    chain = { name: 'step', queueName: job.queueName, data: { step, session }, opts, children: chain ? [chain] : [] };
  }
  // All at once, and none again that is there already: the ids of the jobs are those of the plan.
  if (chain) await flows.add(chain);
  return { answer, last: chain?.opts?.jobId };
}

/** A plan of one step. Results of the steps before are its inputs: Winnow checks them, and puts them in for the references. */
async function step(job: Job, token?: string) {
  const { step, session, run } = job.data;
  const [results = {}] = Object.values(await job.getChildrenValues());
  const inputs = Object.fromEntries(Object.keys(results).map((id) => [id, {}]));
  const text = JSON.stringify(step.arguments).replaceAll(/\$\{(s\d+)/gu, '${input.$1');
  const one = { inputs, steps: [{ ...step, arguments: JSON.parse(text), dependsOn: [] }] };
  const { id, state, steps } = run
    ? await ask(`/v1/plans/runs/${run}/resume`, {}, `${job.id}-${job.attemptsStarted}`)
    : await ask('/v1/plans/run', { session, plan: one, inputs: results, retries: 2 }, String(job.id));
  if (state === 'done') return { ...results, [step.id]: steps[step.id].output };
  if (state !== 'paused') throw new UnrecoverableError(JSON.stringify(steps[step.id]));
  // Somebody has to approve of the call, which may take days. The job comes back to look, and takes no worker meanwhile.
  await job.updateData({ ...job.data, run: id });
  await job.moveToDelayed(Date.now() + 1_000, token);
  throw new DelayedError();
}

const milliseconds = Number(seconds) * 1_000;
const options = { lockDuration: milliseconds, stalledInterval: milliseconds, maxStalledCount: 10, concurrency: 8 };
new Worker('plans', (job, token) => (job.name === 'plan' ? plan(job) : step(job, token)), {
  connection,
  ...options,
}).on('failed', (job, { message }) => console.error(`${job?.id}: ${message}`));
