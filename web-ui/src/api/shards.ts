// The parts of a run that fans out.
import { useRunParts } from './run_parts';
import type { components } from './schema';
import type { Run } from './types';

export type RunShards = components['schemas']['RunShards'];
export type RunShard = components['schemas']['RunShard'];

const A_SECOND = 100; // of 350 bytes

export const useRunShards = (run: Run) =>
  useRunParts<RunShards>(run, 'shards', (list) => list.shards, A_SECOND);
