/**
 * The proof: Winnow, Winnow with each part off, LangChain's tool selector, keywords alone and all tools bound, on the
 * same model, cases and machine. Every answer of the model is kept as it comes; the same command goes on after any stop.
 * What is measured is the build.
 *
 *   npm run bench:quality -- [--sample 40 | --full] [--seed 1] [--sets restbench,metatool,...]
 *     [--contestants first,peer,part,variant,winnow,...] [--failures] [--out .winnow/bench] [--markdown FILE] [--max-tools 8]
 *     [--benchmarks FOLDER] [--today 2025-11-21] [--context-tokens N] [--threads N]
 *     [--model NAME | --model-file FILE | --base-url URL --model NAME]
 */
import { register } from 'node:module';

register('../support/typescript-loader.mjs', import.meta.url);
register('./quality/built.mjs', import.meta.url);
await import('./quality/command.ts');
