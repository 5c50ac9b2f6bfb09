/** `/docs`: the OpenAPI document as a page to read and to try, by Swagger UI. All of it comes from this server. */
import type { FastifyInstance } from 'fastify';
import { WinnowError } from '../../core/errors.js';
import { loadOptional } from '../../core/optional-package.js';

const PATH = '/docs';

/** Nothing from elsewhere, nobody's frame, and no script that stands in the page. Swagger UI sets styles of elements. */
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
        // Without a bar in which the document of another server could be named.
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
