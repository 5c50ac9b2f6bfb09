/** Where the credentials of an operation go in its HTTP call. Names of schemes only: no secret is ever in a document. */
import { isObject } from '../schema/json.js';
import { dereference, type OpenApiDocument } from './openapi-schema.js';

export interface Credential {
  /** Name of the security scheme in the document. */
  scheme: string;
  in: 'header' | 'query' | 'cookie';
  /** Of the header, parameter or cookie. */
  name: string;
  /** `bearer` and `basic` are put before the value; `basic` also encodes it. */
  form?: 'bearer' | 'basic';
}

const PLACES = ['header', 'query', 'cookie'] as const;

/**
 * The ways to be allowed in, each a list of credentials that are all needed; an empty list: without any. Undefined
 * where the document asks for none. Schemes that can't be sent (mutual TLS) take their whole way out, with a problem.
 */
export function readSecurity(
  document: OpenApiDocument,
  operation: Readonly<Record<string, unknown>>,
  problems: string[],
): Credential[][] | undefined {
  const required = operation.security ?? document.content.security;
  if (!Array.isArray(required) || required.length === 0) return undefined;
  const ways = required.filter(isObject).flatMap((requirement) => {
    const credentials = Object.keys(requirement).map((scheme) => readScheme(document, scheme, problems));
    const known = credentials.filter((one) => one !== undefined);
    return known.length === credentials.length ? [known] : [];
  });
  return ways;
}

function readScheme(document: OpenApiDocument, scheme: string, problems: string[]): Credential | undefined {
  const components = isObject(document.content.components) ? document.content.components : {};
  const schemes = isObject(components.securitySchemes) ? components.securitySchemes : {};
  const found = Object.hasOwn(schemes, scheme) ? dereference(document, schemes[scheme]) : undefined;
  const credential = found && toCredential(scheme, found);
  if (!credential) problems.push(`security "${scheme}": no scheme that can be sent, this way in was left out`);
  return credential;
}

function toCredential(scheme: string, found: Record<string, unknown>): Credential | undefined {
  const authorization = { scheme, in: 'header', name: 'Authorization' } as const;
  switch (found.type) {
    case 'apiKey': {
      const place = PLACES.find((one) => one === found.in);
      return place && typeof found.name === 'string' ? { scheme, in: place, name: found.name } : undefined;
    }
    case 'http': {
      const form = String(found.scheme).toLowerCase();
      return form === 'bearer' || form === 'basic' ? { ...authorization, form } : undefined;
    }
    case 'oauth2':
    case 'openIdConnect':
      return { ...authorization, form: 'bearer' };
    default:
      return undefined;
  }
}
