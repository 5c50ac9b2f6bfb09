/** Where commands write: data to stdout, as JSON or for people. */

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
  stdout.write(`${json ? JSON.stringify(value, null, 2) : text}\n`);
}
