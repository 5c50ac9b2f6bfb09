/** How callers of an OpenAPI operation authenticate. */
import { isObject, objectOf } from '../schema/json.js';
import { dereference } from '../schema/references.js';
import type { JsonSchema } from '../tool.js';

interface Secured {
  readonly document: JsonSchema;
  readonly operation: JsonSchema;
  /** Gets what can't be used. */
  readonly problems: string[];
}

/**
 * Alternative ways to authenticate, each a list of credentials that are all needed. Undefined if the document asks for none.
 * An alternative with a scheme that can't be sent (mutual TLS) is left out, with a problem.
 */
export function readSecurity({ document, operation, problems }: Secured): JsonSchema[][] | undefined {
  const required = operation.security ?? document.security;
  if (!Array.isArray(required) || required.length === 0) return undefined;
  return required.filter(isObject).flatMap((requirement) => {
    const schemes = Object.keys(requirement).map((scheme) => ({ scheme, credential: readScheme(document, scheme) }));
    const unknown = schemes.filter(({ credential }) => !credential);
    for (const { scheme } of unknown)
      problems.push(`security "${scheme}": no scheme that can be sent, this way in was left out`);
    return unknown.length > 0 ? [] : [schemes.flatMap(({ credential }) => (credential ? [credential] : []))];
  });
}

/** Where a credential goes; `bearer` and `basic` precede its value. Documents contain no secrets. */
function readScheme(document: JsonSchema, scheme: string): JsonSchema | undefined {
  const schemes = objectOf(objectOf(document.components).securitySchemes);
  const found = Object.hasOwn(schemes, scheme) ? dereference(document, schemes[scheme]) : undefined;
  if (found?.type === 'apiKey') {
    const place = ['header', 'query', 'cookie'].find((one) => one === found.in);
    return place && typeof found.name === 'string' ? { scheme, in: place, name: found.name } : undefined;
  }
  const form = found?.type === 'http' ? String(found.scheme).toLowerCase() : '';
  const isBearer = found?.type === 'oauth2' || found?.type === 'openIdConnect' || form === 'bearer';
  if (!isBearer && form !== 'basic') return undefined;
  return { scheme, in: 'header', name: 'Authorization', form: isBearer ? 'bearer' : 'basic' };
}
