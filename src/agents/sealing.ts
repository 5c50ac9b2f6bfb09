/** Encrypts values for the store: AES-256-GCM, with a key for each that HKDF (RFC 5869) derives from a secret. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const SALT_BYTES = 16;
const TAG_BYTES = 16;

/** Each salt gives a new key, so the nonce may be constant. */
const NONCE = Buffer.alloc(12);
const keyFor = (secret: string | Buffer, salt: Buffer) =>
  Buffer.from(hkdfSync('sha256', secret, salt, 'winnow answer', 32));

/** @param place authenticated with the value: at another place it does not open. Default: any */
export function seal(value: unknown, secret: string | Buffer, place = ''): string {
  const salt = randomBytes(SALT_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyFor(secret, salt), NONCE).setAAD(Buffer.from(place));
  const sealed = [cipher.update(JSON.stringify(value) ?? 'null', 'utf8'), cipher.final()];
  return Buffer.concat([salt, ...sealed, cipher.getAuthTag()]).toString('base64url');
}

/** The value that `seal` was given. @throws Error for another secret or place, and for what `seal` did not make */
export function unseal<Value>(text: string, secret: string | Buffer, place = ''): Value {
  const bytes = Buffer.from(text, 'base64url');
  const salt = bytes.subarray(0, SALT_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', keyFor(secret, salt), NONCE, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-TAG_BYTES));
  const opened = [decipher.update(bytes.subarray(SALT_BYTES, -TAG_BYTES)), decipher.final()];
  return JSON.parse(Buffer.concat(opened).toString('utf8'));
}
