/**
 * Answers `input_required` if a call needs more: the client asks its person, and repeats the request with their answers.
 * Meanwhile the server keeps only the approval in its store, and a call whose own server asks.
 */
import { ClientCapabilitiesSchema, ElicitResultSchema } from '@modelcontextprotocol/core';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  inputRequired,
  inputResponse,
  type PrimitiveSchemaDefinition,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CallInput } from '../../agents/contracts.js';
import type { CallAskOptions, Router } from '../../agents/router.js';
import { fail } from '../../agents/sandbox/failure.js';
import { isObject, listOf } from '../../core/catalog/schema/json.js';
import { dereference } from '../../core/catalog/schema/references.js';
import { secretArgumentNames } from '../../core/catalog/schema/secrets.js';
import type { JsonSchema } from '../../core/catalog/tool.js';
import { oneLine, spellHidden } from '../../core/visible-text.js';
import type { Asked } from './answering.js';
import { canAskPerson, findOwnApproval, questionFor, settle } from './ask-person.js';
import type { OwnAnswer } from './own-tool.js';
import { formOf, type OpenCalls, type Step } from './server-questions.js';

/**
 * The client may change it. It needs no signature: only its owner can name the session, and its arguments are checked
 * like all arguments.
 */
const stateSchema = z.strictObject({
  session: z.string().min(1).max(128),
  /** The session was opened for this request alone. */
  isOwn: z.boolean(),
  arguments: z.record(z.string(), z.unknown()),
  /** The running call whose server asked. Default: the call has not begun. */
  call: z.string().max(128).optional(),
});
type State = z.infer<typeof stateSchema>;

/** For the server's `requestState.verify`. @throws Error for other text than `writeState` makes */
export function readState(text: string): State {
  return stateSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
}

function writeState(state: State): string {
  return Buffer.from(JSON.stringify(state)).toString('base64url');
}

/** From each request, which names its client's capabilities. */
export function capabilitiesOf({ envelope = {} }: Asked): ClientCapabilities | undefined {
  return ClientCapabilitiesSchema.safeParse(Reflect.get(envelope, CLIENT_CAPABILITIES_META_KEY)).data;
}

/** Keys of the person's answers; the key of an answer to an approval is the approval's id. */
const ARGUMENTS = 'arguments';
const SERVER = 'server';
/** A person would not want to fill in more. */
const MAX_FIELDS = 8;

interface AskedCall {
  readonly session: string;
  /** The session was opened for this request alone. */
  readonly isOwn: boolean;
  readonly ask: CallAskOptions;
  readonly asked: Asked;
}

/**
 * Calls a tool in a session, with the answers of the client's person so far. An answer to a tool's server goes to that
 * server alone, and decides nothing in Winnow.
 * @param asksPerson the person may also decide on approvals, if the policy lets them
 */
export async function callAskingBack(
  router: Pick<Router, 'call' | 'list' | 'session' | 'approvals'>,
  input: CallInput,
  { session, isOwn, ask, asked, asksPerson, open }: AskedCall & { asksPerson: boolean; open: OpenCalls },
): Promise<OwnAnswer> {
  const { inputResponses: responses } = asked;
  const state = asked.requestState<State>();
  if (state?.call !== undefined) {
    const { data: answer } = ElicitResultSchema.safeParse(inputResponse(responses, SERVER));
    const step = await open.goOn(state.call, session, { ask, answer });
    return step ? answerOf(step) : { result: fail('connection_lost', NOT_OPEN) };
  }
  const answer = inputResponse(responses, ARGUMENTS);
  const now = answer.kind === 'elicit' && answer.action === 'accept' ? answer.content : {};
  const said = { ...state?.arguments, ...now };
  const call = { ...input, arguments: { ...said, ...input.arguments } };
  if (!canAskPerson(capabilitiesOf(asked))) return { result: await router.call(session, call, ask) };
  const make = (input: CallInput) => open.begin(session, ask, (more) => router.call(session, input, more));
  const step = await make(call);
  if ('question' in step || step.result.ok) return answerOf(step);
  const { result } = step;
  const requestState = writeState({ session, isOwn, arguments: said });

  if (result.code === 'invalid_arguments' && answer.kind === 'missing') {
    const form = await formFor(router, call, { session, ask });
    const inputRequests = form && { [ARGUMENTS]: inputRequired.elicit(form) };
    return inputRequests ? { question: inputRequired({ inputRequests, requestState }) } : { result };
  }
  const approval = asksPerson ? findOwnApproval(router, result) : undefined;
  if (approval === undefined) return { result };
  const decision = inputResponse(responses, approval);
  // Without a question there is no valid answer, whatever the client sends.
  const question = await questionFor(router, approval);
  if (!question) return { result };
  if (decision.kind !== 'missing') return decided();
  const inputRequests = { [approval]: inputRequired.elicit(question.form) };
  return { question: inputRequired({ inputRequests, requestState }) };

  async function decided(): Promise<OwnAnswer> {
    if (decision.kind !== 'elicit' || decision.action === 'cancel' || approval === undefined) return { result };
    const isDecided = await settle(router, { session, approval, action: decision.action }, ask);
    return isDecided ? answerOf(await make({ ...call, approval })) : { result };
  }

  function answerOf(step: Step): OwnAnswer {
    if ('result' in step) return step;
    const inputRequests = { [SERVER]: inputRequired.elicit(formOf(step.question)) };
    const requestState = writeState({ session, isOwn, arguments: {}, call: step.call });
    return { question: inputRequired({ inputRequests, requestState }) };
  }
}

const NOT_OPEN = 'The call is not under way any more, or another process of Winnow has it.';

/** Undefined: nothing is missing, or a form can't ask for it, such as a secret or a list. */
async function formFor(
  router: Pick<Router, 'list'>,
  { tool, arguments: given }: CallInput,
  { session, ask }: Pick<AskedCall, 'session' | 'ask'>,
): Promise<ElicitRequestFormParams | undefined> {
  const list = await router.list(session, {}, ask);
  const schema = list.ok ? list.tools.find(({ name }) => name === tool)?.inputSchema : undefined;
  if (!schema) return undefined;
  const required = listOf(schema.required).filter((name) => typeof name === 'string');
  const names = required.filter((name) => !Object.hasOwn(given ?? {}, name));
  const secrets = new Set(secretArgumentNames(schema));
  if (names.length === 0 || names.length > MAX_FIELDS || names.some((name) => secrets.has(name))) return undefined;
  const properties: Record<string, PrimitiveSchemaDefinition> = {};
  for (const name of names) {
    const field = toField(dereference(schema, isObject(schema.properties) ? schema.properties[name] : undefined));
    if (!field) return undefined;
    properties[name] = field;
  }
  const message = spellHidden(`${tool} still needs: ${names.join(', ')}.`);
  return { mode: 'form', message, requestedSchema: { type: 'object', properties, required: names } };
}

function toField(schema: JsonSchema | undefined): PrimitiveSchemaDefinition | undefined {
  if (!schema) return undefined;
  const about = typeof schema.description === 'string' ? { description: spellHidden(oneLine(schema.description)) } : {};
  if (schema.enum !== undefined) {
    const options = listOf(schema.enum).filter((one) => typeof one === 'string');
    return options.length === listOf(schema.enum).length ? { type: 'string', enum: options, ...about } : undefined;
  }
  switch (schema.type) {
    case 'number':
    case 'integer':
      return { type: schema.type, ...about };
    case 'string':
      return { type: 'string', ...about };
    case 'boolean':
      return { type: 'boolean', ...about };
    default:
      return undefined;
  }
}
