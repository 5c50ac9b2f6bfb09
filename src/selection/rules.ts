/** Which rules of a catalogue a request matches. */
import type { Rule } from '../catalog/rule.js';
import type { Request } from '../request.js';

/** All conditions that a rule states must hold. */
export function matchingRules(rules: readonly Rule[], request: Request): Rule[] {
  return rules.filter(({ when }) => {
    const entities = request.entities ?? {};
    const hasEntities = (when.entities ?? []).every(
      (name) => Object.hasOwn(entities, name) && entities[name] !== undefined && entities[name] !== null,
    );
    const intents = when.intent === undefined ? undefined : [when.intent].flat();
    const hasIntent = intents === undefined || (request.intent !== undefined && intents.includes(request.intent));
    const hasMessage = when.message === undefined || new RegExp(when.message, 'iu').test(request.message);
    return hasEntities && hasIntent && hasMessage;
  });
}
