/** For `node:module` `register`: what the measurement takes from `src` comes from `dist`, which changes only with a build. */
export function resolve(specifier, context, next) {
  const isProduct = context.parentURL?.includes('/test/bench/') && /^(?:\.\.\/)+src\//u.test(specifier);
  // A whole address, since the loader of TypeScript would look for a `.ts` behind a relative one.
  return next(isProduct ? new URL(specifier.replace('src/', 'dist/'), context.parentURL).href : specifier, context);
}
