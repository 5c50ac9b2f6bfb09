/** A step under way: what it is for, and what is known about its arguments. */
import type { Tool } from '../../catalog/tool.js';
import { OPENING } from './decide-arguments.js';
import type { Progress } from './drafts.js';
import type { Known } from './known.js';
import type { Deciding, Open } from './read.js';
import type { Repeated } from './served-values.js';
import type { Candidate } from './sources.js';
import type { Served } from './step-prompt.js';

export interface About {
  /** What the model wrote for this call alone, if it did; else the next value tells the call from the one before. */
  readonly ask: string;
  /** All that is wanted of the tool, perhaps by further calls. */
  readonly whole: string;
  /** The tools that wait for the step, the one of the ask first. */
  readonly consumers: readonly Tool[];
  readonly chain: Chain;
  /** Whether the model names a producer for an argument that nothing else provides. */
  readonly mayGuess: boolean;
  readonly serves?: Served;
  /** The words that the step is to look up, if the step that waits for it needs several things of a kind. Default: the ask. */
  readonly role?: string | undefined;
}

/** The steps of one ask, from the first producer to its tool. */
export interface Chain {
  /** The calls that led to this chain, for further values of the same argument. */
  readonly earlier: readonly Repeated[];
  /** The step of it that is to be called again with the next value, if there is one. */
  repeated?: Repeated | undefined;
  /** Whether one was looked for in words of the request; behind that, only codes are looked at. */
  isLookedAt?: boolean | undefined;
  /** The words that arguments of its steps look up, each by itself: no further call is for these. */
  readonly roles: string[];
}

/** @property one probability that the request asks for one thing, between 0 and 1 */
export interface Adding extends Deciding {
  readonly progress: Progress;
  readonly known: Known;
  readonly one: number;
}

type Said = ReturnType<Known['saidFor']>;

/** A step under way. */
export interface Step {
  readonly tool: Tool;
  readonly about: About;
  readonly adding: Adding;
  /** The words that the model reads for its arguments. */
  readonly ask: string;
  /** What the request says for the tool; `own`: without what only other asks or things of the same kind have. */
  readonly said: Said;
  readonly own: Said;
  /** Arguments that need no choice. */
  readonly settled: Map<string, Candidate>;
  /** Adds a step whose result the argument takes. @returns its id @see About.role */
  readonly addProducer: (producer: Tool, argument: string, role?: string) => Promise<string>;
}

const MAX_PRODUCERS = 3;
export function mayWait({ about }: Step): boolean {
  return about.consumers.length < MAX_PRODUCERS;
}

export function promptFor(ask: string, { tool, about, adding, said, settled }: Step) {
  return adding.known.promptFor(tool, { ask, serves: about.serves }, { handles: said.handles, settled });
}

/** Reads the call of the step with the arguments that it has so far. */
export function readCall<T>(step: Step, use: (open: Open) => Promise<T>): Promise<T> {
  return step.adding.read('fill-arguments', promptFor(step.ask, step), OPENING, use);
}
