/** A JSON Schema as it was written, of any draft: nothing is known of its keywords yet. */
export type JsonSchema = { readonly [key: string]: unknown };
