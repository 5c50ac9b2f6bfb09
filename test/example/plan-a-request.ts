import { createModel, createPlanner, loadCatalog } from '../../src/index.js';

const { catalog } = await loadCatalog({ sources: ['tools.json'] });
const model = await createModel({}); // the local one; or { baseUrl, model, apiKey }
const planner = createPlanner({ catalog, model, options: { maxTools: 8 } });

const result = await planner.plan({ message: 'What is the level of the Panshitou reservoir?' });
if (result.kind === 'plan') console.log(result.steps, result.levels);
await model.close();
