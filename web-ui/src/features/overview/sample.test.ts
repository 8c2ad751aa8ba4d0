import { describe, expect, it } from 'vitest';
import type { Job } from '../../api/types';
import { SAMPLE_LABEL, sampleOf } from './sample';

const job = (labels: Record<string, string>) => ({ job_id: 'a', labels }) as unknown as Job;

describe('the first steps', () => {
  it('the first steps are shown while there is no job but the sample', () => {
    const sample = job({ [SAMPLE_LABEL]: 'hello' });
    expect(sampleOf([])).toBeNull();
    expect(sampleOf([sample])).toBe(sample);
    expect(sampleOf([job({})])).toBeUndefined();
    expect(sampleOf([sample, job({})])).toBeUndefined();
  });
});
