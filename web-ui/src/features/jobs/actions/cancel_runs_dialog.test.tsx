import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import CancelRunsDialog from './cancel_runs_dialog';
import { ACTIONS, targetOf } from '../../bulk/bulk';
import { only } from '../../bulk/selection';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';
import '../../../ui/dialogs/modal_dialog';

const job = { job_id: 'backup', name: 'Backup' } as Job;

describe('cancelling all runs of a job', () => {
  let bodies: unknown[];
  const onClose = vi.fn();
  beforeEach(() => {
    queryClient.clear();
    bodies = [];
    onClose.mockClear();
    server.use(
      http.post(at('jobs/backup/cancel'), async ({ request }) => {
        bodies.push(await request.json());
        return HttpResponse.json({ cancelled: 3 }, { status: 202 });
      }),
    );
  });
  const open = (counts: Record<string, number>, more = false) => {
    server.use(
      http.get(at('runs'), ({ request }) => {
        const state = new URL(request.url).searchParams.get('state')!;
        return HttpResponse.json({
          items: Array.from({ length: counts[state] ?? 0 }, () => ({})),
          next_page_token: more ? 'x' : null,
        });
      }),
    );
    render(
      <QueryClientProvider client={queryClient}>
        <CancelRunsDialog job={job} onClose={onClose} />
      </QueryClientProvider>,
    );
  };

  it('the cancel dialog counts the active runs and sends the reason', async () => {
    open({ RUNNING: 1, PENDING: 2 });
    await screen.findByText('1 running, 2 pending, 0 held');
    fireEvent.change(screen.getByLabelText('Reason (optional)'), { target: { value: ' too many ' } });
    fireEvent.click(screen.getByRole('button', { name: 'Cancel runs' }));
    await waitFor(() => expect(onClose).toHaveBeenCalled());
    expect(bodies).toEqual([{ reason: 'too many' }]);
  });

  it('the cancel dialog marks a count that is not complete', async () => {
    open({ RUNNING: 2, PENDING: 1, HELD: 1 }, true);
    await screen.findByText('more than 2 running, more than 1 pending, more than 1 held');
  });

  it('the cancel dialog works without a count', async () => {
    server.use(http.get(at('runs'), () => problem(400, 'invalid', 'no')));
    render(
      <QueryClientProvider client={queryClient}>
        <CancelRunsDialog job={job} onClose={onClose} />
      </QueryClientProvider>,
    );
    await screen.findByText(/^The number of active runs is unknown/);
    fireEvent.click(screen.getByRole('button', { name: 'Cancel runs' }));
    await waitFor(() => expect(bodies).toEqual([{}]));
  });

  it('the bulk cancel accepts jobs in any state, but no finished run', () => {
    expect(ACTIONS.job).toContain('cancel');
    const rows = [
      { id: 'a', name: 'A', state: 'PAUSED' },
      { id: 'b', name: 'B', state: 'ENABLED' },
    ];
    expect(targetOf('job', 'cancel', only(['a', 'b']), rows, {})).toEqual({ ids: ['a', 'b'] });
    expect(targetOf('run', 'cancel', only(['a']), [{ id: 'a', name: 'A', state: 'FAILED' }], {})).toBeNull();
  });
});
