/** Which rules of a catalogue a request matches. */
import type { Rule } from '../catalog/rule.js';
import { createPatternTrials, createSafePattern, type PatternTrials } from '../catalog/schema/safe-pattern.js';
import type { Request } from '../request.js';

/** All conditions that a rule states must hold. */
export function matchingRules(rules: readonly Rule[], request: Request): Rule[] {
  const trials = createPatternTrials();
  return rules.filter(({ when }) => {
    const entities = request.entities ?? {};
    const hasEntities = (when.entities ?? []).every(
      (name) => Object.hasOwn(entities, name) && holdsSomething(entities[name]),
    );
    const intents = when.intent === undefined ? undefined : [when.intent].flat();
    const hasIntent = intents === undefined || (request.intent !== undefined && intents.includes(request.intent));
    return hasEntities && hasIntent && hasMessage(when.message, request, trials);
  });
}

/** An extractor that found nothing may say so by an empty text or list. */
function holdsSomething(entity: unknown): boolean {
  if (typeof entity === 'string') return entity.trim() !== '';
  return entity !== undefined && entity !== null && !(Array.isArray(entity) && entity.length === 0);
}

/** An operator may write a pattern that would not come to an end on some user's message: it then does not match. */
function hasMessage(pattern: string | undefined, { message }: Request, trials: PatternTrials): boolean {
  return pattern === undefined || createSafePattern(pattern, { ignoreCase: true }).matches(message, trials) === true;
}
