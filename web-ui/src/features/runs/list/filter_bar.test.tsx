import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { queryClient } from '../../../api/queries';
import { HttpResponse, at, http, server } from '../../../../test_support/server';
import FilterBar, { type RunSearch } from './filter_bar';

const show = (search: RunSearch) => {
  const set = vi.fn<(change: Partial<RunSearch>) => void>();
  render(
    <QueryClientProvider client={queryClient}>
      <FilterBar search={search} set={set} onClear={undefined} />
    </QueryClientProvider>,
  );
  return set;
};
beforeEach(() => {
  queryClient.clear();
  server.use(http.get(at('executors'), () => HttpResponse.json({ items: [], next_page_token: null })));
});

describe('the filter of runs that wait for other jobs', () => {
  it('the filter takes the place of the states, as it says more', () => {
    const set = show({ state: ['FAILED'] });
    const chip = screen.getByRole('button', { name: 'Waits for other jobs', pressed: false });
    fireEvent.click(chip);
    expect(set).toHaveBeenCalledWith({ waiting: 'upstream_run', state: undefined });
  });

  it('runs that wait for a decision have a filter of their own', () => {
    const set = show({ waiting: 'upstream_run' });
    fireEvent.click(screen.getByRole('button', { name: 'Waits for a decision', pressed: false }));
    expect(set).toHaveBeenCalledWith({ waiting: 'approval', state: undefined });
  });

  it('the filter is taken back by itself and by a state', () => {
    const set = show({ waiting: 'upstream_run' });
    fireEvent.click(screen.getByRole('button', { name: 'Waits for other jobs', pressed: true }));
    expect(set).toHaveBeenLastCalledWith({ waiting: undefined, state: undefined });
    fireEvent.click(screen.getByRole('button', { name: 'Failed' }));
    expect(set).toHaveBeenLastCalledWith({ waiting: undefined, state: ['FAILED'] });
  });
});
