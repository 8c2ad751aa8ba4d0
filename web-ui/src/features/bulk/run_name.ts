import type { Run } from '../../api/types';

// Returns the name of a run for use outside of a list: the job and the fire time.
export const nameOfRun = (run: Run) =>
  `${run.job_name || run.job_id} · ${run.fire_time.slice(0, 19).replace('T', ' ')} UTC`;
