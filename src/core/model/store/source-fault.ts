/** Why a source gave no file. A refusal (an answer that says no) is told from a time-out (no answer). */
import { messageOf } from '../../errors.js';
import { codeOf, fieldOf } from './error-facts.js';

/** Only `timed out` and `failed` may pass by themselves, so only they are tried again. */
export type FaultKind = 'refused' | 'timed out' | 'failed' | 'unusable';

export class SourceFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SourceFault';
    this.kind = kind;
  }

  get mayPass(): boolean {
    return this.kind === 'timed out' || this.kind === 'failed';
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name can not be resolved',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  EACCES: 'this machine does not allow the connection',
  EPERM: 'this machine does not allow the connection',
};
const TIMEOUTS = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** What `fetch`, or reading its body, threw. */
export function networkFault(error: unknown): SourceFault {
  const codes = errorCodes(error);
  const refusal = codes.find((code) => code in REFUSALS);
  if (refusal) return new SourceFault('refused', `${REFUSALS[refusal]} (${refusal})`, error);
  const timeout = codes.find((code) => TIMEOUTS.has(code));
  if (timeout) return new SourceFault('timed out', `no answer (${timeout})`, error);
  const certificate = codes.find((code) => /CERT|SELF_SIGNED|UNABLE_TO/.test(code));
  if (certificate) return new SourceFault('refused', `the certificate is not trusted (${certificate})`, error);
  return new SourceFault('failed', [messageOf(error), ...codes].join(', '), error);
}

export function statusFault(status: number): SourceFault {
  const mayPass = status === 408 || status === 429 || status >= 500;
  return new SourceFault(mayPass ? 'failed' : 'refused', `HTTP ${status}`);
}

/** `fetch` hides the real reason in `cause`, and with several addresses in `errors`. */
function errorCodes(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const errors = fieldOf(error, 'errors');
  const nested = [fieldOf(error, 'cause'), ...(Array.isArray(errors) ? errors : [])];
  const code = codeOf(error);
  return [...(code === undefined ? [] : [code]), ...nested.flatMap(errorCodes)];
}
