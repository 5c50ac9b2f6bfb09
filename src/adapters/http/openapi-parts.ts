/** The pieces that every operation of the OpenAPI document is made of. */
import { GATEWAY_HEADER, ROLES_HEADER, USER_HEADER } from './auth/authenticate.js';
import { REQUEST_ID_HEADER } from './request-id.js';

export type Json = Record<string, unknown>;

export function success(description: string, content: Json): Json {
  return { description, headers: { [REQUEST_ID_HEADER]: { $ref: '#/components/headers/RequestId' } }, content };
}

export function problemReferences(statuses: readonly number[]): Json {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]));
}

export function parameters(): Json[] {
  return [{ $ref: '#/components/parameters/RequestId' }, { $ref: '#/components/parameters/User' }];
}

export function rolesHeader(): Json {
  return header(ROLES_HEADER, `Roles of the caller, with commas in between; counts beside ${USER_HEADER} only.`);
}

/** Only in the document of a server that has agents or MCP. */
export function rolesReference(): Json {
  return { $ref: '#/components/parameters/Roles' };
}

export function userHeader(): Json {
  const description =
    'Who asks, as a gateway or the operator says: wins over the user of query or body. Refused beside any other token.';
  return header(USER_HEADER, description);
}

/** None is needed on a server of this machine alone, but for what decides for others. */
export function securitySchemes(): Json {
  const description = 'A token of the operator, of a user, or a JSON Web Token of the issuer that the server trusts.';
  return {
    token: { type: 'http', scheme: 'bearer', description },
    gateway: { type: 'apiKey', in: 'header', name: GATEWAY_HEADER, description: 'The secret of a gateway.' },
  };
}

export function header(name: string, description: string): Json {
  return { name, in: 'header', description, schema: { type: 'string' } };
}
