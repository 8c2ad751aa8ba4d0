import '../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import type { ReactElement } from 'react';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { queryClient } from '../../api/queries';
import type { Job, Run } from '../../api/types';
import { JobEditor } from '../jobs/form/job_editor';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import GraphTab from './graph_tab';
import NodesCard from './nodes_card';
import RetryNodesDialog from './retry_nodes_dialog';
import RunNodes from './run_nodes';
import { WorkflowsPage } from './workflows_page';
import '../lists/runs/release_dialog';
import './decide_dialog';
import '../../ui/dialogs/modal_dialog';

const SLOW_MS = 60_000;
const edge = (node: string, more: object = {}) => ({
  node,
  on: 'success',
  if: null,
  recovers: false,
  ...more,
});
const graphNode = (id: string, more: object = {}) => ({
  id,
  kind: 'job',
  finally: false,
  job_id: id + '-job',
  job_name: 'Job ' + id,
  job_type: 'shell',
  job_state: 'ENABLED',
  after: [],
  trigger_rule: 'all',
  allow_failure: false,
  parameters: {},
  ...more,
});
const runNode = (id: string, more: object = {}) => ({
  ...graphNode(id),
  run_id: 'run-' + id,
  state: 'COMPLETED',
  blocked: false,
  reason: null,
  error: null,
  attempt: 1,
  started_at: '2026-03-01T02:00:00Z',
  ended_at: '2026-03-01T02:00:03Z',
  exit_code: 0,
  executor_id: 'x',
  failure: false,
  repaired: false,
  ...more,
});
const run = { run_id: 'r1', job_id: 'sales', state: 'RUNNING', attempt: 1, job_type: 'workflow' } as Run;
const nodes = (...list: object[]) => ({
  run_id: 'r1',
  job_id: 'sales',
  job_version: 1,
  state: 'RUNNING',
  deadline: null,
  max_parallel: 32,
  nodes: list,
});

function show(element: ReactElement) {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => element }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}
const rows = async (label: string) => {
  const table = await screen.findByRole('region', { name: label }, { timeout: SLOW_MS });
  return within(table)
    .getAllByRole('row')
    .slice(1)
    .map((row) =>
      within(row)
        .getAllByRole('cell')
        .map((cell) => cell.textContent),
    );
};
beforeEach(() => queryClient.clear());

describe('the graph of a workflow', () => {
  it('the graph of a workflow is drawn and repeated in a table', async () => {
    server.use(
      http.get(at('jobs/sales/graph'), () =>
        HttpResponse.json({
          job_id: 'sales',
          version: 1,
          max_parallel: 32,
          nodes: [
            graphNode('load'),
            graphNode('repair', {
              after: [edge('load', { on: 'failure', if: 'exit_code == 3', recovers: true })],
              trigger_rule: 2,
              allow_failure: true,
            }),
            graphNode('gone', { job_name: null, job_type: null, job_state: null, trigger_rule: 'any' }),
          ],
        }),
      ),
    );
    show(<GraphTab id="sales" />);
    expect(await rows('Nodes')).toEqual([
      ['load', 'Job load', '–', 'All', '–'],
      ['repair', 'Job repair', 'load (on failure, if exit_code == 3, recovers it)', 'At least 2', 'Yes'],
      ['gone', 'gone-job · Job deleted', '–', 'Any', '–'],
    ]);
    const drawing = screen.getByRole('region', { name: /Graph of the workflow/ });
    const links = within(drawing).getAllByRole('link');
    expect(links.map((link) => link.getAttribute('href'))).toEqual(['/jobs/load-job', '/jobs/repair-job']);
  });

  it('the graph has lines on failure where few may happen, otherwise on demand', async () => {
    const many = ['a', 'b', 'c', 'd'];
    server.use(
      http.get(at('jobs/sales/graph'), () =>
        HttpResponse.json({
          job_id: 'sales',
          version: 1,
          max_parallel: 32,
          nodes: [
            ...many.map((id) => graphNode(id)),
            graphNode('full', { after: [edge('a', { if: 'rows > 1000' })] }),
            graphNode('alarm', { after: many.map((id) => edge(id, { on: 'failure' })) }),
          ],
        }),
      ),
    );
    show(<GraphTab id="sales" />);
    const drawing = await screen.findByRole(
      'region',
      { name: /Graph of the workflow/ },
      { timeout: SLOW_MS },
    );
    const lines = () =>
      [...drawing.querySelectorAll('[data-line]')].map((one) => one.getAttribute('data-line'));
    expect(lines()).toEqual(['a full']);
    expect(within(drawing).getByText('rows > 1000')).toBeTruthy();
    fireEvent.focus(within(drawing).getByRole('link', { name: 'b' }));
    expect(lines()).toEqual(['a full', 'b alarm']);
    fireEvent.blur(within(drawing).getByRole('link', { name: 'b' }));
    fireEvent.click(within(drawing).getByRole('checkbox', { name: 'All lines on failure (4 more)' }));
    expect(lines()).toEqual(['a full', 'a alarm', 'b alarm', 'c alarm', 'd alarm']);
  });

  it('arrow keys lead from node to node, and a key covers the window with the graph', async () => {
    server.use(
      http.get(at('jobs/sales/graph'), () =>
        HttpResponse.json({
          job_id: 'sales',
          version: 1,
          max_parallel: 32,
          nodes: [graphNode('load'), graphNode('report', { after: [edge('load')] })],
        }),
      ),
    );
    show(<GraphTab id="sales" />);
    const drawing = await screen.findByRole(
      'region',
      { name: /Graph of the workflow/ },
      { timeout: SLOW_MS },
    );
    const link = (name: string) => within(drawing).getByRole('link', { name });
    link('load').focus();
    fireEvent.keyDown(link('load'), { key: 'ArrowRight' });
    expect(document.activeElement).toBe(link('report'));
    expect(link('report').tabIndex).toBe(0);
    expect(link('load').tabIndex).toBe(-1);
    const full = within(drawing).getByRole('button', { name: 'Full screen' });
    fireEvent.click(full);
    expect(full.getAttribute('aria-pressed')).toBe('true');
    fireEvent.keyDown(full, { key: 'Escape' });
    expect(full.getAttribute('aria-pressed')).toBe('false');
  });

  it('the graph tab shows why it cannot be loaded', async () => {
    server.use(http.get(at('jobs/sales/graph'), () => problem(404, 'not_found', 'no job sales')));
    show(<GraphTab id="sales" />);
    expect(await screen.findByRole('alert')).toBeTruthy();
  });
});

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
      ['audit', 'Failed', '2', '3 s', 'Exit code 3', 'Skip'],
      ['load', 'Completed', '1', '3 s', '–', ''],
      ['mend', 'Failed', '1', '3 s', 'Recovered by another node', 'Skip'],
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
    decision: null,
    allowed_actions: ['decide', 'skip'],
  });
  const open = async (sent: unknown[]) => {
    server.use(
      http.get(at('runs/r1/nodes'), () => HttpResponse.json(nodes(gate))),
      http.get(at('runs/run-gate'), () =>
        HttpResponse.json({ parameters: { message: '17 rows; publish?' } }),
      ),
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

describe('a retry', () => {
  it('the retry dialog previews the chosen nodes before it runs them', async () => {
    const sent: unknown[] = [];
    server.use(
      http.get(at('runs/r1/nodes'), () => HttpResponse.json(nodes(runNode('load'), runNode('audit')))),
      http.post(at('runs/r1/retry'), async ({ request }) => {
        const body = (await request.json()) as { dry_run?: boolean; from: unknown };
        if (!body.dry_run) {
          sent.push(body);
          return HttpResponse.json({ ...run, state: 'PENDING' }, { status: 202 });
        }
        if (body.from === 'failed') return problem(409, 'conflict', 'no node is to be run again');
        return HttpResponse.json({ run_again: ['audit', 'report'], skipped: [] });
      }),
    );
    show(<RetryNodesDialog run={run} onClose={() => undefined} />);
    const dialog = await screen.findByRole('dialog', { name: 'Retry nodes' }, { timeout: SLOW_MS });
    await within(dialog).findByText(/no node is to be run again|current state/i);
    const go = within(dialog).getByRole('button', { name: 'Retry' });
    expect(go).toHaveProperty('disabled', true);
    await within(dialog).findByRole('option', { name: 'From node audit' });
    fireEvent.change(within(dialog).getByLabelText('Run again'), { target: { value: '/audit' } });
    await within(dialog).findByText('These nodes run again: audit, report.');
    fireEvent.click(within(dialog).getByRole('checkbox'));
    await waitFor(() => expect(go).toHaveProperty('disabled', false));
    fireEvent.click(go);
    await waitFor(() => expect(sent).toEqual([{ from: ['audit'], confirm_overlap: true }]));
  });
});

describe('the form of a workflow', () => {
  it(
    'the workflow form validates nodes while they are typed and saves them',
    { timeout: SLOW_MS },
    async () => {
      const created: Job[] = [];
      server.use(
        http.get(at('system/config'), () =>
          HttpResponse.json({ version: 1, settings: {}, sources: {}, live: [] }),
        ),
        http.post(at('workflows/validate'), async ({ request }) => {
          const { workflow } = (await request.json()) as { workflow: { nodes: { after?: string[] }[] } };
          const wrong = workflow.nodes[1]?.after?.[0] === 'lod';
          return HttpResponse.json({
            valid: !wrong,
            problems: wrong
              ? [
                  {
                    code: 'unknown_node',
                    pointer: '/workflow/nodes/1/after/0/node',
                    message: "no node 'lod'.",
                  },
                ]
              : [],
          });
        }),
        http.post(at('jobs'), async ({ request }) => {
          created.push((await request.json()) as Job);
          return HttpResponse.json({ job_id: 'sales', name: 'Sales' }, { status: 201 });
        }),
      );
      show(<JobEditor start={{}} />);
      fireEvent.change(await screen.findByLabelText('Name', {}, { timeout: SLOW_MS }), {
        target: { value: 'Sales' },
      });
      fireEvent.change(screen.getByLabelText('Retries'), { target: { value: '2' } });
      fireEvent.change(screen.getByLabelText('Type'), { target: { value: 'workflow' } });
      expect(screen.queryByLabelText('Command')).toBeNull();
      const field = await screen.findByLabelText<HTMLTextAreaElement>(
        'Nodes (YAML)',
        {},
        { timeout: SLOW_MS },
      );
      expect(screen.queryByLabelText('Retries')).toBeNull();
      const text = 'nodes:\n  - {id: load, job: load-orders}\n  - {id: report, job: report, after: [lod]}\n';
      fireEvent.change(field, { target: { value: text } });
      await screen.findByText("no node 'lod'.", {}, { timeout: SLOW_MS });
      fireEvent.click(screen.getByRole('button', { name: 'Line 3' }));
      expect(field.selectionStart).toBe(text.indexOf('  - {id: report'));
      fireEvent.change(field, { target: { value: text + '  - {id: load' } });
      await screen.findByText(/This is the graph before the last change/, {}, { timeout: SLOW_MS });
      expect(screen.getByRole('button', { name: 'Line 4' })).toBeTruthy();
      fireEvent.change(field, { target: { value: text.replace('lod]', 'load]') } });
      await screen.findByText('No problems found.', {}, { timeout: SLOW_MS });
      fireEvent.change(screen.getByLabelText('Trigger'), { target: { value: 'manual' } });
      fireEvent.click(screen.getByRole('button', { name: 'Create job' }));
      await waitFor(() => expect(created).toHaveLength(1));
      expect(created[0]).toMatchObject({
        type: 'workflow',
        timeout: 86_400,
        retry_count: 0,
        workflow: parse(text.replace('lod]', 'load]')) as object,
      });
      expect(created[0]).not.toHaveProperty('command');
    },
  );
});

describe('the list of workflows', () => {
  const open = (search = '') => {
    const root = createRootRoute();
    const list = createRoute({ getParentRoute: () => root, path: '/workflows', component: WorkflowsPage });
    const router = createRouter({
      routeTree: root.addChildren([list]),
      history: createMemoryHistory({ initialEntries: ['/workflows' + search] }),
    });
    render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>,
    );
  };
  const answer = (items: object[]) => {
    const asked: string[] = [];
    server.use(
      http.get(at('jobs'), ({ request }) => {
        asked.push(new URL(request.url).search);
        return HttpResponse.json({ items, next_page_token: null, total: items.length });
      }),
    );
    return asked;
  };

  it('the list of workflows links to their graphs', async () => {
    const asked = answer([
      { job_id: 'sales', name: 'Sales', state: 'ENABLED', schedules: [], workflow: { nodes: [{}, {}] } },
    ]);
    open('?q=sal');
    expect((await rows('Workflows'))[0]?.slice(0, 3)).toEqual(['Enabled', 'Sales', '2']);
    expect(screen.getByRole('link', { name: 'Sales' }).getAttribute('href')).toBe('/jobs/sales?tab=graph');
    expect(asked[0]).toContain('type=workflow');
    expect(asked[0]).toContain('q=sal');
  });

  it('the list of workflows says when it is empty', async () => {
    answer([]);
    open();
    expect(await screen.findByText('No workflows')).toBeTruthy();
  });
});
