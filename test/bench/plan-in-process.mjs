/** One process of `seconds.mjs`: loads the model, plans each request, prints seconds and usage as JSON. The loading counts for the first. */
import { createModel, createPlanner, loadCatalog } from '../../dist/index.js';

const [modelFile, catalogFile, ...messages] = process.argv.slice(2);
const { catalog } = await loadCatalog({ sources: [catalogFile] });
const start = performance.now();
const model = await createModel({ modelFile });
const planner = createPlanner({ catalog, model });
const rows = [];
for (const message of messages) {
  const before = rows.length === 0 ? start : performance.now();
  const { usage } = await planner.plan({ message });
  rows.push({ seconds: (performance.now() - before) / 1000, usage });
}
console.log(JSON.stringify(rows));
await model.close();
