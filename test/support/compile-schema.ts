/** A standard validator of draft 2020-12 that knows nothing of Winnow. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

export function compileSchema(schema: object) {
  const ajv = new Ajv2020({ strict: false, logger: false, allErrors: true });
  ajvFormats.default(ajv);
  return ajv.compile(schema);
}
