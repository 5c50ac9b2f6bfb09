/** `/docs`: the OpenAPI document in Swagger UI, served entirely from this server. */
import type { FastifyInstance } from 'fastify';
import { WinnowError } from '../../core/errors.js';
import { loadOptional } from '../../core/optional-package.js';

const PATH = '/docs';

/** No foreign content, no framing, no inline scripts. Swagger UI sets styles of elements. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': "'self'",
  'frame-ancestors': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
};

/** @param render makes the document */
export function addDocsPage(app: FastifyInstance, render: () => object): void {
  app.register(async (scope) => {
    const packages = { packages: ['@fastify/swagger-ui'], neededBy: `GET ${PATH}` };
    try {
      const { default: swaggerUi } = await loadOptional(() => import('@fastify/swagger-ui'), packages);
      await scope.register(swaggerUi, {
        routePrefix: PATH,
        staticCSP: POLICY,
        theme: { title: 'Winnow' },
        // Without the bar that could load another server's document.
        uiConfig: { layout: 'BaseLayout' },
        transformSpecificationClone: false,
        transformSpecification: () => render(),
      });
    } catch (error) {
      if (!(error instanceof WinnowError)) throw error;
      scope.get(PATH, async () => {
        throw new WinnowError('not_found', error.message);
      });
    }
  });
}
