/**
 * The life cycle of the tool index: ready, stale, building, error. Rebuilds run in the background; meanwhile the last
 * complete index answers, and the answers say so.
 */
import { z } from 'zod';
import type { Tool } from '../../core/catalog/tool.js';
import { messageOf, WinnowError } from '../../core/errors.js';
import { runInSlices } from '../../core/in-slices.js';
import { parseOptions } from '../../core/parse.js';
import { fieldWeightsSchema } from '../../core/search/keyword-index.js';
import type { Refusal } from '../contracts.js';
import { type Audience, createAudiences, type VisibleLayers } from './audience.js';
import { buildGeneration, fingerprintTools, type Generation } from './generation.js';
import { exportSnapshot, parseSnapshot, restoreGeneration, type Snapshot, type SnapshotLevel } from './snapshot.js';

export const INDEX_STATES = ['ready', 'stale', 'building', 'error'] as const;
export const indexStatusSchema = z.object({
  state: z.enum(INDEX_STATES).describe('stale: tools or weights have changed, and no build is running.'),
  fingerprint: z.string().optional().describe('Fingerprint of the index that answers. Absent: none does.'),
  tools: z.int().describe('Tools in the index that answers, with private ones.'),
  weights: fieldWeightsSchema,
  builtAt: z.iso.datetime().optional(),
  error: z.string().optional().describe('Why the last build failed.'),
});
export type IndexStatus = z.infer<typeof indexStatusSchema>;

const IMPORT_OUTCOMES = ['taken', 'stale', 'empty'] as const;
export const importedIndexSchema = indexStatusSchema.extend({
  snapshot: z
    .enum(IMPORT_OUTCOMES)
    .describe('taken: it answers now; stale: it has other tools or weights; empty: it holds no index.'),
});
export type ImportedIndex = z.infer<typeof importedIndexSchema>;

export interface IndexRefusal extends Refusal {
  readonly ok: false;
  readonly code: 'index_not_ready' | 'index_building';
}

export interface OpenIndex {
  readonly ok: true;
  readonly layers: VisibleLayers;
  /** `building`: the last complete index answers until the next is built. */
  readonly state: 'ready' | 'building';
  readonly fingerprint: string;
}

export interface ToolIndexOptions {
  /** How much a word counts in each field. Default: those of `fieldWeightsSchema`. */
  weights?: z.input<typeof fieldWeightsSchema> | undefined;
  /** Whether a change starts a rebuild; otherwise the index is stale until `rebuild`. Default: true. */
  rebuildsItself?: boolean | undefined;
  /**
   * During a build, `previous` lets the last complete index answer, without removed or changed tools; `refuse` answers
   * `index_building`. Default: `previous`.
   */
  whileBuilding?: 'previous' | 'refuse' | undefined;
  /** Called at each change of state, for example to log it. */
  onChange?: ((status: IndexStatus) => void) | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

interface Answering {
  readonly generation: Generation;
  readonly builtAt: string;
}

export type ToolIndex = ReturnType<typeof createToolIndex>;

/** @throws WinnowError `invalid_option` for wrong weights. */
export function createToolIndex(tools: readonly Tool[], options: ToolIndexOptions = {}) {
  const { rebuildsItself = true, whileBuilding = 'previous', onChange, clock = () => new Date() } = options;
  let current = { tools, weights: parseOptions(fieldWeightsSchema, options.weights ?? {}, 'weights') };
  let state: IndexStatus['state'] = 'stale';
  let error: string | undefined;
  let answering: Answering | undefined;
  let audiences: ReturnType<typeof createAudiences> | undefined;
  let build: { promise: Promise<void>; abort: AbortController } | undefined;

  if (rebuildsItself) begin();

  return {
    status,

    /** The index that a caller can search now, or why there is none. */
    open(audience: Audience): OpenIndex | IndexRefusal {
      if (state === 'ready' || (state === 'building' && whileBuilding === 'previous' && answering)) {
        if (!answering) return notReady('There is no index yet.');
        const { generation } = answering;
        audiences ??= createAudiences(generation, isCurrent(current.tools, generation));
        return { ok: true, layers: audiences(audience), state, fingerprint: generation.fingerprint };
      }
      if (state === 'building')
        return {
          ok: false,
          code: 'index_building',
          reason: 'The index of the tools is being built.',
          next: 'Ask again in a few seconds.',
        };
      return notReady(state === 'error' ? `The last build failed: ${error}.` : 'Tools or weights have changed since.');
    },

    /** Sets the current tools; the same list again costs nothing. */
    setTools(next: readonly Tool[]): void {
      if (next === current.tools) return;
      change({ ...current, tools: next });
    },

    /** @throws WinnowError `invalid_option` naming the field. */
    setWeights(input: z.input<typeof fieldWeightsSchema>): void {
      const weights = parseOptions(fieldWeightsSchema, input, 'weights');
      if (JSON.stringify(weights) === JSON.stringify(current.weights)) return;
      change({ ...current, weights });
    },

    /** Rebuilds, unless the index is up to date. Resolves when it has settled; the state says with what result. */
    async rebuild(): Promise<IndexStatus> {
      if (!build) begin();
      return settle();
    },
    /** Resolves when no build is running. */
    settled: settle,

    /** @throws WinnowError `invalid_request` when there is no complete index to export. */
    exportSnapshot({ level, maxBytes }: { level: SnapshotLevel; maxBytes?: number | undefined }): Snapshot {
      if (state === 'ready' && answering)
        return exportSnapshot(answering.generation, { level, maxBytes, builtAt: answering.builtAt });
      throw new WinnowError('invalid_request', `The index is ${state}: rebuild it before it is exported.`);
    },

    /**
     * Takes over an index that was built elsewhere, which saves the build. It ignores one with another fingerprint
     * (`stale`) or without content (`empty`): the index then keeps its state.
     * @throws WinnowError `invalid_request` when the snapshot is broken.
     */
    async importSnapshot(input: unknown): Promise<ImportedIndex> {
      const snapshot = parseSnapshot(input);
      const now = current;
      const wanted = await runInSlices(fingerprintTools(now.tools, now.weights));
      if (snapshot.level !== 'full') return { ...status(), snapshot: 'empty' };
      if (now !== current || snapshot.fingerprint !== wanted) return { ...status(), snapshot: 'stale' };
      const generation = restoreGeneration(snapshot, now.tools);
      build?.abort.abort();
      answer({ generation, builtAt: snapshot.createdAt });
      return { ...status(), snapshot: 'taken' };
    },

    /** Stops a build. Idempotent. */
    close(): void {
      build?.abort.abort();
      if (state === 'building') enter('stale');
    },
  };

  function status(): IndexStatus {
    const generation = answering?.generation;
    const counted = generation ? [generation.system, ...generation.own.values()] : [];
    return {
      state,
      ...(generation ? { fingerprint: generation.fingerprint, builtAt: answering?.builtAt } : {}),
      tools: counted.reduce((sum, segment) => sum + segment.tools.length, 0),
      weights: current.weights,
      ...(state === 'error' && error !== undefined ? { error } : {}),
    };
  }

  function change(next: typeof current): void {
    current = next;
    audiences = undefined;
    build?.abort.abort();
    enter('stale');
    if (rebuildsItself) begin();
  }

  function begin(): void {
    const abort = new AbortController();
    const last = build?.promise;
    enter('building');
    const promise = (async () => {
      await last;
      try {
        const { tools: ofBuild, weights } = current;
        const work = buildGeneration(ofBuild, weights, answering?.generation);
        const generation = await runInSlices(work, abort.signal);
        answer({ generation, builtAt: clock().toISOString() });
      } catch (cause) {
        // A newer change has replaced this build, or the index is closed: neither is a failure.
        if (abort.signal.aborted) return;
        error = messageOf(cause);
        enter('error');
      } finally {
        if (build?.abort === abort) build = undefined;
      }
    })();
    build = { promise, abort };
  }

  function answer(next: Answering): void {
    answering = next;
    audiences = undefined;
    error = undefined;
    enter('ready');
  }

  function enter(next: typeof state): void {
    if (state === next && next !== 'ready') return;
    state = next;
    onChange?.(status());
  }

  async function settle(): Promise<IndexStatus> {
    while (build) await build.promise;
    return status();
  }
}

/** A tool that was changed or removed must not be found by its old text. */
function isCurrent(tools: readonly Tool[], { system, own }: Generation): (tool: Tool) => boolean {
  const now = new Set(tools);
  const all = [system, ...own.values()].flatMap((segment) => segment.tools);
  return all.every((tool) => now.has(tool)) ? () => true : (tool) => now.has(tool);
}

function notReady(reason: string): IndexRefusal {
  return {
    ok: false,
    code: 'index_not_ready',
    reason,
    next: 'Rebuild the index, or ask for the classic list, which needs none.',
  };
}
