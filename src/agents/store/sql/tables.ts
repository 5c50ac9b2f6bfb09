/** The tables as Kysely sees them; the columns in the database are the same names in snake case. */
import type { Generated } from 'kysely';

export interface SessionsTable {
  id: string;
  user: string | null;
  /** JSON. */
  roles: string;
  project: string | null;
  riskCeiling: string | null;
  turn: number;
  createdAt: string;
  activeAt: string;
  endedAt: string | null;
}

export interface EnablementsTable {
  session: string;
  tool: string;
  via: string;
  untilTurn: number;
  /** 0 or 1: SQLite has no booleans. */
  once: number;
  calls: number;
}

export interface ApprovalsTable {
  id: string;
  session: string;
  user: string;
  tool: string;
  /** JSON. */
  arguments: string;
  argumentsHash: string;
  /** JSON. */
  sources: string | null;
  /** JSON. */
  runs: string | null;
  /** JSON. */
  granted: string | null;
  grantedHash: string | null;
  policyVersion: string;
  state: 'pending' | 'granted' | 'refused' | 'used' | 'expired';
  grant: 'once' | 'session';
  reason: string;
  requestedAt: string;
  expiresAt: string;
  decidedBy: string | null;
  decidedAt: string | null;
  usedAt: string | null;
}

export interface AuditTable {
  place: Generated<number>;
  at: string;
  event: string;
  outcome: string;
  session: string | null;
  user: string | null;
  turn: number | null;
  tool: string | null;
  code: string | null;
  reason: string | null;
  argumentsHash: string | null;
  /** JSON. */
  sources: string | null;
  approval: string | null;
  policyVersion: string | null;
}

export interface TelemetryTable {
  place: Generated<number>;
  at: string;
  type: string;
  session: string;
  user: string | null;
  project: string | null;
  tool: string | null;
  /** JSON. */
  content: string;
}

export interface CallsTable {
  place: Generated<number>;
  session: string;
  tool: string;
  turn: number;
  at: string;
  /** JSON. */
  values: string;
}

export interface DocumentsTable {
  collection: string;
  owner: string;
  name: string;
  /** JSON. */
  content: string;
  updatedAt: string;
}

export interface WeightsTable {
  level: string;
  subject: string;
  kind: string;
  key: string;
  value: number;
  evidence: number;
  state: string;
  /** JSON. */
  details: string;
  updatedAt: string;
}

export interface PlanRunsTable {
  id: string;
  session: string | null;
  user: string | null;
  /** JSON. */
  plan: string;
  state: string;
  createdAt: string;
  updatedAt: string;
  leaseOwner: string | null;
  leaseUntil: string | null;
}

export interface PlanStepsTable {
  run: string;
  step: string;
  /** JSON. */
  state: string;
  updatedAt: string;
}

export interface Tables {
  sessions: SessionsTable;
  enablements: EnablementsTable;
  approvals: ApprovalsTable;
  audit: AuditTable;
  telemetry: TelemetryTable;
  calls: CallsTable;
  documents: DocumentsTable;
  weights: WeightsTable;
  planRuns: PlanRunsTable;
  planSteps: PlanStepsTable;
}
