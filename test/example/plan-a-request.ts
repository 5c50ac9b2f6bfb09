import { createModel, createPlanner, loadCatalog } from '../../src/index.js';

const { catalog } = await loadCatalog({ sources: ['fixtures/catalogs/hydrology.json'] }); // or tools of your own
const model = await createModel({}); // the local one; or { baseUrl, model, apiKey }
const planner = createPlanner({ catalog, model, options: { maxTools: 8 } });

const result = await planner.plan({ message: 'What is the level of the Panshitou reservoir?' });
if (result.kind === 'plan') console.log(result.steps, result.levels);
else console.log(result); // a question back, or the reason why there is no plan
await model.close();
