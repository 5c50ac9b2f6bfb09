/** Where a redirect may lead, by the words of the server alone; what is connected to is checked besides. */
import { describe, expect, it } from 'vitest';
import { nextUrl } from '../../../../../src/agents/sandbox/executors/http/follow.js';

const ALLOWED = new Set(['https://files.example', 'http://api.example']);
const READ = { method: 'GET', url: new URL('https://api.example/v1/pets?key=k') };

describe('a redirect', () => {
  it.each([
    ['a path of the same host', '/v2/pets', 'https://api.example/v2/pets'],
    ['a path beside it', 'dogs', 'https://api.example/v1/dogs'],
    ['an origin that is allowed', 'https://files.example/pets', 'https://files.example/pets'],
  ])('is followed to %s', (_, location, place) => {
    expect(String(nextUrl(READ, location, ALLOWED))).toBe(place);
  });

  it.each([
    ['another host', 'https://evil.example/?q=secret', 'to https://evil.example/, a host that is not allowed'],
    ['another port', 'https://api.example:8443/', 'to https://api.example:8443/, a host that is not allowed'],
    ['no encryption, though allowed', 'http://api.example/v1', 'to http://api.example/v1, without encryption'],
    ['another protocol', 'file:///etc/passwd', 'to null/etc/passwd, without encryption'],
    ['a host with a user name', 'https://ann@api.example/', 'to api.example with a user name'],
    ['no URL', 'https://[', 'to a place that is no URL'],
  ])('is not followed to %s', (_, location, why) => {
    expect(nextUrl(READ, location, ALLOWED)).toBe(why);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('of a call that writes is not followed: %s', (method) => {
    expect(nextUrl({ ...READ, method }, '/v2/pets', ALLOWED)).toContain('only followed for calls that read');
  });
});
