/** Where commands write: data to stdout, as JSON or for people. */
import { printable, renderJson } from './printable.js';

export interface OutputOptions {
  stdout?: Pick<NodeJS.WritableStream, 'write'>;
  stderr?: Pick<NodeJS.WritableStream, 'write'>;
}
export type Output = Required<OutputOptions>;

export function outputOf(options: OutputOptions): Output {
  return { stdout: process.stdout, stderr: process.stderr, ...options };
}

export function print(
  { stdout }: Output,
  { json }: { json?: boolean },
  { value, text }: { value: unknown; text: string },
): void {
  stdout.write(`${json ? renderJson(value) : printable(text)}\n`);
}
