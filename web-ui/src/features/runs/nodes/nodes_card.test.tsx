import '../../../../test_support/texts';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../../api/queries';
import { HttpResponse, at, http, server } from '../../../../test_support/server';
import { SLOW_MS, edge, nodes, rows, run, runNode, show } from '../../../../test_support/workflow_nodes';
import NodesCard from './nodes_card';
import RunNodes from './run_nodes';
import '../../lists/runs/release_dialog';
import './decide_dialog';
import './skip_dialog';
import '../../../ui/dialogs/modal_dialog';

beforeEach(() => queryClient.clear());

describe('the nodes of a run', () => {
  it('the nodes card shows what each node does and waits for', async () => {
    server.use(
      http.get(at('runs/r1/nodes'), () =>
        HttpResponse.json(
          nodes(
            runNode('load'),
            runNode('audit', {
              state: 'FAILED',
              reason: 'exit_code',
              exit_code: 3,
              failure: true,
              attempt: 2,
            }),
            runNode('mend', { state: 'FAILED', reason: 'exit_code', exit_code: 1, repaired: true }),
            runNode('report', {
              state: 'PENDING',
              blocked: true,
              started_at: null,
              ended_at: null,
              after: [edge('load', { verdict: 'met' }), edge('audit', { verdict: 'open' })],
            }),
            runNode('turn', { state: 'PENDING', blocked: true, started_at: null, ended_at: null }),
            runNode('last', {
              state: 'PENDING',
              blocked: true,
              finally: true,
              started_at: null,
              ended_at: null,
            }),
          ),
        ),
      ),
    );
    show(
      <>
        <RunNodes run={run} graph />
        <RunNodes run={run} />
      </>,
    );
    const shown = await rows('Nodes');
    expect(shown.map((cells) => [cells[0], cells[1], cells[3], cells[5], cells[6], cells[7]])).toEqual([
      ['audit', 'Failed', '2', '3 s', 'Exit code 3', 'LogSkip'],
      ['load', 'Completed', '1', '3 s', '–', 'Log'],
      ['mend', 'Failed', '1', '3 s', 'Recovered by another node', 'LogSkip'],
      ['report', 'Waiting', '1', '–', 'Waits for audit', 'Skip'],
      ['turn', 'Waiting', '1', '–', 'Waits until fewer nodes are active', 'Skip'],
      ['last', 'Waiting', '1', '–', 'Waits until all other nodes have ended', 'Skip'],
    ]);
    const drawing = screen.getByRole('region', { name: /Graph of the workflow/ });
    expect(within(drawing).getByRole('link', { name: 'report, Waiting' }).getAttribute('href')).toBe(
      '/runs/run-report',
    );
    expect(screen.getByRole('img', { name: /Times of the nodes/ })).toBeTruthy();
    const places = within(drawing)
      .getAllByRole('link')
      .map((link) => link.tabIndex);
    expect(places).toEqual([0, -1, -1, -1, -1, -1]);
    expect(within(drawing).queryByRole('application')).toBeNull();
  });

  it('the nodes card releases a node that waits for other jobs', async () => {
    const open = { state: 'PENDING', blocked: true, started_at: null, ended_at: null };
    const sent: unknown[] = [];
    server.use(
      http.get(at('runs/r1/nodes'), () =>
        HttpResponse.json(
          nodes(
            runNode('load', { ...open, awaiting: true, allowed_actions: ['release', 'skip'] }),
            runNode('audit', { ...open, awaiting: true, allowed_actions: [] }),
            runNode('turn', { ...open, awaiting: false, allowed_actions: ['skip'] }),
          ),
        ),
      ),
      http.post(at('runs/run-load/release'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ run_id: 'run-load' }, { status: 202 });
      }),
    );
    // The run of the workflow itself does not wait.
    show(<NodesCard run={{ ...run, allowed_actions: ['cancel', 'execute', 'skip'] }} />);
    expect((await rows('Nodes')).map((cells) => [cells[1], cells[6]])).toEqual([
      ['Waiting for other jobs', 'Waits for runs of other jobs first'],
      ['Waiting for other jobs', 'Waits for runs of other jobs first'],
      ['Waiting', 'Waits until fewer nodes are active'],
    ]);
    expect(screen.queryByRole('button', { name: 'Release node audit' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Release node load' }));
    fireEvent.change(await screen.findByLabelText('Reason (optional)'), { target: { value: ' by mail ' } });
    fireEvent.click(screen.getByRole('button', { name: 'Release' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(sent).toEqual([{ reason: 'by mail' }]);
  });

  it('the nodes card offers to skip where the state permits it', async () => {
    const held = { state: 'HELD', ended_at: null };
    server.use(
      http.get(at('runs/r1/nodes'), () =>
        HttpResponse.json(
          nodes(
            runNode('load', { ...held, allowed_actions: ['retry', 'skip'] }),
            runNode('audit', { ...held, allowed_actions: ['retry'] }),
          ),
        ),
      ),
    );
    show(<NodesCard run={{ ...run, allowed_actions: ['cancel', 'execute', 'retry', 'skip'] }} />);
    await screen.findByRole('button', { name: 'Skip node load' }, { timeout: SLOW_MS });
    expect(screen.queryByRole('button', { name: 'Skip node audit' })).toBeNull();
  });

  it('the nodes card skips a node after a confirmation, with a reason', async () => {
    const sent: unknown[] = [];
    const waiting = runNode('audit', { state: 'PENDING', blocked: true, started_at: null, ended_at: null });
    server.use(
      http.get(at('runs/r1/nodes'), () => HttpResponse.json(nodes(waiting))),
      http.post(at('runs/r1/nodes/audit/skip'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json(
          nodes({ ...waiting, state: 'SKIPPED', blocked: false, reason: 'skipped_by_hand' }),
        );
      }),
    );
    show(<NodesCard run={run} />);
    fireEvent.click(await screen.findByRole('button', { name: 'Skip node audit' }, { timeout: SLOW_MS }));
    const dialog = await screen.findByRole('dialog', { name: 'Skip node audit?' }, { timeout: SLOW_MS });
    fireEvent.change(within(dialog).getByLabelText('Reason (optional)'), { target: { value: ' by hand ' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Skip' }));
    await waitFor(() => expect(sent).toEqual([{ reason: 'by hand' }]));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });
});

describe('an approval', () => {
  const gate = runNode('gate', {
    kind: 'approval',
    job_id: null,
    job_name: null,
    job_type: null,
    state: 'PENDING',
    ended_at: null,
    until: '2026-03-01T06:00:00Z',
    message: '17 rows; publish?',
    decision: null,
    allowed_actions: ['decide', 'skip'],
  });
  const open = async (sent: unknown[]) => {
    server.use(
      http.get(at('runs/r1/nodes'), () => HttpResponse.json(nodes(gate))),
      http.post(at('runs/r1/nodes/gate/decide'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json(nodes({ ...gate, state: 'COMPLETED' }));
      }),
    );
    show(<NodesCard run={run} />);
    fireEvent.click(
      await screen.findByRole('button', { name: 'Decide about node gate' }, { timeout: SLOW_MS }),
    );
    return await screen.findByRole('dialog', { name: 'Decide about node gate' }, { timeout: SLOW_MS });
  };

  it('an open approval shows its message and is approved', async () => {
    const sent: unknown[] = [];
    const dialog = await open(sent);
    await within(dialog).findByText('17 rows; publish?');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Approve' }));
    await waitFor(() => expect(sent).toEqual([{ decision: 'approve' }]));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it('a refusal needs a reason', async () => {
    const sent: unknown[] = [];
    const dialog = await open(sent);
    const refuse = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Refuse' });
    expect(refuse.disabled).toBe(true);
    fireEvent.change(within(dialog).getByLabelText('Reason (a refusal needs one)'), {
      target: { value: ' wrong month ' },
    });
    fireEvent.click(refuse);
    await waitFor(() => expect(sent).toEqual([{ decision: 'refuse', reason: 'wrong month' }]));
  });

  it('a decision says who made it, and a task has no link to a job', async () => {
    server.use(
      http.get(at('runs/r1/nodes'), () =>
        HttpResponse.json(
          nodes(
            {
              ...gate,
              state: 'FAILED',
              reason: 'refused',
              decision: { decision: 'refused', by: 'ann', reason: 'late', at: null },
              allowed_actions: [],
            },
            runNode('load', { kind: 'task', job_id: null, job_name: null }),
          ),
        ),
      ),
    );
    show(<NodesCard run={run} />);
    await screen.findByText('Refused by ann: late', {}, { timeout: SLOW_MS });
    expect(screen.getByText('Task of the node')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Decide about node gate' })).toBeNull();
  });
});

describe('a node that is HELD', () => {
  it('a held node is named and can be cancelled without waiting', async () => {
    const sent: unknown[] = [];
    server.use(
      http.get(at('runs/r1/nodes'), () =>
        HttpResponse.json(nodes(runNode('load'), runNode('audit', { state: 'HELD', ended_at: null }))),
      ),
      http.post(at('runs/r1/cancel'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ cancelled: 1 }, { status: 202 });
      }),
    );
    show(<NodesCard run={run} />);
    await screen.findByText(/a person decides: audit\./, {}, { timeout: SLOW_MS });
    const note = screen.getByRole('status');
    fireEvent.click(within(note).getByRole('button', { name: 'Cancel without waiting' }));
    const dialog = await screen.findByRole(
      'dialog',
      { name: 'Processes may still be running' },
      { timeout: SLOW_MS },
    );
    expect(sent).toEqual([]);
    fireEvent.click(within(dialog).getByRole('button', { name: 'Continue anyway' }));
    await waitFor(() => expect(sent).toEqual([{ confirm_overlap: true }]));
  });
});
