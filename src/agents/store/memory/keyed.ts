/** Documents, weights and runs of plans in memory. */
import type {
  DocumentRecord,
  Documents,
  PlanRunRecord,
  PlanRuns,
  WeightQuery,
  WeightRecord,
  Weights,
} from '../store.js';
import { compare } from './sessions.js';

export function createMemoryDocuments(): Documents {
  const documents = new Map<string, DocumentRecord>();
  const keyOf = (owner: string, name: string) => JSON.stringify([owner, name]);
  return {
    async put(document) {
      documents.set(keyOf(document.owner, document.name), document);
    },
    async add(document) {
      const key = keyOf(document.owner, document.name);
      if (!documents.has(key)) documents.set(key, document);
    },
    async get(owner, name) {
      return documents.get(keyOf(owner, name));
    },
    async list(owner) {
      return [...documents.values()]
        .filter((one) => owner === undefined || one.owner === owner)
        .sort((one, other) => compare(one.owner, other.owner) || compare(one.name, other.name));
    },
    async remove(owner, name) {
      return documents.delete(keyOf(owner, name));
    },
  };
}

export function createMemoryWeights(): Weights {
  const weights = new Map<string, WeightRecord>();
  const columns = ['level', 'subject', 'kind', 'key'] as const;
  const keyOf = (weight: WeightRecord) => JSON.stringify(columns.map((column) => weight[column]));
  const find = (query: WeightQuery) =>
    [...weights.values()].filter((one) =>
      ([...columns, 'state'] as const).every((column) => (query[column] ?? one[column]) === one[column]),
    );
  return {
    async put(added) {
      for (const weight of added) weights.set(keyOf(weight), weight);
    },
    async list(query = {}) {
      const compareAll = (one: WeightRecord, other: WeightRecord) =>
        columns.reduce((order, column) => order || compare(one[column], other[column]), 0);
      return find(query).sort(compareAll);
    },
    async remove(query) {
      const found = find(query);
      for (const weight of found) weights.delete(keyOf(weight));
      return found.length;
    },
  };
}

export interface MemoryPlanRuns extends PlanRuns {
  /** Removes those that did nothing since; returns how many. */
  prune(before: string): number;
}

export function createMemoryPlanRuns(): MemoryPlanRuns {
  const runs = new Map<string, PlanRunRecord>();
  const leases = new Map<string, { owner: string; until: string }>();
  return {
    async create(run) {
      runs.set(run.id, run);
    },
    async get(id) {
      return runs.get(id);
    },
    async list({ state, user, limit }) {
      return [...runs.values()]
        .filter((run) => (state ?? run.state) === run.state && (user ?? run.user) === run.user)
        .sort((one, other) => compare(other.createdAt, one.createdAt) || compare(one.id, other.id))
        .slice(0, limit);
    },
    async setStep(id, { id: step, state, at }) {
      const run = runs.get(id);
      if (run) runs.set(id, { ...run, steps: { ...run.steps, [step]: state }, updatedAt: at });
    },
    async setState(id, { state, plan, at }) {
      const run = runs.get(id);
      if (run) runs.set(id, { ...run, state, ...(plan === undefined ? {} : { plan }), updatedAt: at });
    },
    async claim(id, { owner, at, until }) {
      const lease = leases.get(id);
      if (!runs.has(id) || (lease && lease.owner !== owner && lease.until > at)) return false;
      leases.set(id, { owner, until });
      return true;
    },
    prune(before) {
      const old = [...runs.values()].filter(({ updatedAt }) => updatedAt < before);
      for (const { id } of old) {
        runs.delete(id);
        leases.delete(id);
      }
      return old.length;
    },
  };
}
