import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChangeStream, concerns } from '../src/api/changes';

const change = (...topics: string[]) => ({
  name: 'change', id: 'life-1', data: JSON.stringify({ changes: topics.map((topic) => ({ topic })) }),
});

describe('concerns', () => {
  it('finds the lists of a topic and what is below them', () => {
    expect(concerns(['jobs', {}], 'jobs')).toBe(true);
    expect(concerns(['jobs/nightly/versions', {}], 'jobs')).toBe(true);
    expect(concerns(['runs', {}], 'jobs')).toBe(false);
    expect(concerns(['runs', {}], 'runs')).toBe(true);
    expect(concerns(['gaps', {}], 'runs')).toBe(true);
    expect(concerns(['system', 'config'], 'config')).toBe(true);
    expect(concerns(['jobsomething', {}], 'jobs')).toBe(false);
  });
});

describe('ChangeStream', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function made() {
    const client = new QueryClient();
    const read: string[] = [];
    vi.spyOn(client, 'invalidateQueries').mockImplementation((filters) => {
      const keys = [['jobs', {}], ['runs', {}], ['users', {}]];
      const predicate = filters?.predicate as ((query: { queryKey: unknown[] }) => boolean) | undefined;
      read.push(keys.filter((queryKey) => predicate?.({ queryKey }) ?? true).map((key) => key[0]).join(' '));
      return Promise.resolve();
    });
    return { stream: new ChangeStream(client), read };
  }

  it('reads anew at once, and what comes soon after together', () => {
    const { stream, read } = made();
    stream.take([change('jobs')]);
    expect(read).toEqual(['jobs']);
    stream.take([change('runs')]);
    stream.take([change('runs', 'users')]);
    expect(read).toEqual(['jobs']);
    vi.advanceTimersByTime(2000);
    expect(read).toEqual(['jobs', 'runs users']);
    vi.advanceTimersByTime(60_000);
    expect(read).toHaveLength(2);
    stream.take([change('jobs')]);
    expect(read).toEqual(['jobs', 'runs users', 'jobs']);
  });

  it('reads everything anew when it missed something', () => {
    const { stream, read } = made();
    stream.take([{ name: 'ready', id: 'life-0', data: '{}' }]);
    expect(read).toEqual([]);
    stream.take([{ name: 'resync', id: 'other-0', data: '{}' }]);
    expect(read).toEqual(['jobs runs users']);
  });

  it('forgets what waits when it stops', () => {
    const { stream, read } = made();
    stream.take([change('jobs')]);
    stream.take([change('runs')]);
    stream.stop();
    vi.advanceTimersByTime(60_000);
    expect(read).toEqual(['jobs']);
  });
});
