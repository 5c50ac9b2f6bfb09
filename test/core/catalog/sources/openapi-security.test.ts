import { describe, expect, it } from '@jest/globals';
import { readSecurity } from '../../../../src/core/catalog/sources/openapi-security.js';

const SCHEMES = {
  bearer: { type: 'http', scheme: 'Bearer' },
  basic: { type: 'http', scheme: 'basic' },
  digest: { type: 'http', scheme: 'digest' },
  key: { type: 'apiKey', in: 'query', name: 'api_key' },
  flow: { type: 'oauth2', flows: {} },
  id: { type: 'openIdConnect', openIdConnectUrl: 'https://id.test' },
  tls: { type: 'mutualTLS' },
  alias: { $ref: '#/components/securitySchemes/key' },
};

function read(security: unknown, whole?: unknown) {
  const problems: string[] = [];
  const content = { security: whole, components: { securitySchemes: SCHEMES } };
  const ways = readSecurity({ content, isVersion30: false }, security === undefined ? {} : { security }, problems);
  return { ways, problems };
}

const header = (scheme: string, form: string) => ({ scheme, in: 'header', name: 'Authorization', form });
const query = (scheme: string) => ({ scheme, in: 'query', name: 'api_key' });

describe('the security of an operation', () => {
  it.each([
    ['a bearer token', [{ bearer: [] }], [[header('bearer', 'bearer')]]],
    ['user and password', [{ basic: [] }], [[header('basic', 'basic')]]],
    ['a key', [{ key: [] }], [[query('key')]]],
    ['OAuth', [{ flow: ['read'] }], [[header('flow', 'bearer')]]],
    ['OpenID Connect', [{ id: [] }], [[header('id', 'bearer')]]],
    ['a reference', [{ alias: [] }], [[query('alias')]]],
    ['two at once', [{ key: [], bearer: [] }], [[query('key'), header('bearer', 'bearer')]]],
    ['one of two, or none', [{ key: [] }, { basic: [] }, {}], [[query('key')], [header('basic', 'basic')], []]],
    ['none', [], undefined],
  ])('tells where the credentials go, and no secret: %s', (_, security, ways) => {
    expect(read(security)).toEqual({ ways, problems: [] });
  });

  it('is that of the document where the operation says nothing', () => {
    expect(read(undefined, [{ key: [] }]).ways).toEqual([[query('key')]]);
    expect(read([], [{ key: [] }]).ways).toBeUndefined();
    expect(read(undefined).ways).toBeUndefined();
  });

  it.each(['tls', 'digest', 'nobody', '__proto__'])(
    'leaves a way out that can not be sent, and says so: %s',
    (scheme) => {
      const security = JSON.parse(`[{"${scheme}": []}, {"key": []}]`);
      const { ways, problems } = read(security);
      expect(ways).toEqual([[query('key')]]);
      expect(problems).toEqual([`security "${scheme}": no scheme that can be sent, this way in was left out`]);
    },
  );
});
