import '../../../../test_support/texts';
import { act, fireEvent, screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../../api/queries';
import type { Run } from '../../../api/types';
import { HttpResponse, at, http, server } from '../../../../test_support/server';
import { SLOW_MS, nodes, run, runNode, show } from '../../../../test_support/workflow_nodes';
import Waiting from '../waiting/waiting_text';
import RunNodes from './run_nodes';
import { showLog } from './shown_log';
import '../waiting/undecided';
import './decide_dialog';
import './node_log';
import './node_menu';
import './retry_nodes_dialog';
import '../../../ui/dialogs/modal_dialog';

const LATE = { timeout: SLOW_MS };
const may = { allowed_actions: ['retry', 'skip'] };
const drawing = () => screen.findByRole('region', { name: /Graph of the workflow/ }, LATE);
beforeEach(() => {
  queryClient.clear();
  act(() => showLog(null));
  server.use(
    http.get(at('runs/r1/nodes'), () =>
      HttpResponse.json(
        nodes(
          runNode('load', may),
          runNode('audit', { ...may, state: 'FAILED', reason: 'exit_code', exit_code: 3, failure: true }),
        ),
      ),
    ),
    http.get(at('runs/run-load/logs/stream'), () => new HttpResponse(null, { status: 404 })),
    http.post(at('runs/r1/retry'), () => HttpResponse.json({ run_again: ['audit'], skipped: [] })),
  );
});

describe('the graph of a run', () => {
  it('a right click on a node offers the actions of its row', async () => {
    show(
      <>
        <RunNodes run={run} graph />
        <RunNodes run={run} />
      </>,
    );
    const link = await within(await drawing()).findByRole('link', { name: 'audit, Failed' });
    fireEvent.contextMenu(link);
    const menu = await screen.findByRole('menu', { name: 'Actions of node audit' }, LATE);
    const items = within(menu).getAllByRole('menuitem');
    expect(items.map((item) => item.textContent)).toEqual([
      'Open the run',
      'Open the job',
      'Log',
      'Retry from here',
      'Skip',
    ]);
    expect(items[0]!.getAttribute('href')).toBe('/runs/run-audit');
    fireEvent.click(items[3]!);
    const dialog = await screen.findByRole('dialog', { name: 'Retry nodes' }, LATE);
    expect(within(dialog).getByLabelText<HTMLSelectElement>('Run again').value).toBe('/audit');
    await within(dialog).findByText('These nodes run again: audit.');
  });

  it('the log of a node is shown beside the graph, and closed', async () => {
    show(
      <>
        <RunNodes run={run} graph />
        <RunNodes run={run} />
      </>,
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Log of node load' }, LATE));
    const log = (await screen.findAllByRole('region', { name: 'Log of node load' }, LATE))[0]!;
    expect(document.activeElement).toBe(log);
    fireEvent.click(within(log).getByRole('button', { name: 'Close the log' }));
    expect(screen.queryByRole('region', { name: 'Log of node load' })).toBeNull();
  });
});

describe('the run of an approval', () => {
  const gate = {
    ...run,
    run_id: 'run-gate',
    state: 'PENDING',
    node: 'gate',
    workflow_run_id: 'r1',
    waiting: { code: 'approval', detail: 'Waits for a decision.' },
    allowed_actions: ['decide'],
    parameters: { message: '17 rows; publish?' },
  } as unknown as Run;
  const shown = (more: object) => show(<Waiting run={{ ...gate, ...more }} error={null} />);

  it('a decision that fails keeps the dialog and the reason', async () => {
    const sent: unknown[] = [];
    server.use(
      http.post(at('runs/r1/nodes/gate/decide'), async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json(
          { code: 'not_approver', detail: 'Others decide.', status: 403 },
          { status: 403 },
        );
      }),
    );
    shown({});
    expect(await screen.findByText('17 rows; publish?', {}, LATE)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Decide' }));
    const dialog = await screen.findByRole('dialog', { name: 'Decide about node gate' }, LATE);
    const reason = within(dialog).getByLabelText<HTMLInputElement>('Reason (a refusal needs one)');
    fireEvent.change(reason, { target: { value: 'late' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Refuse' }));
    expect(await within(dialog).findByRole('alert', {}, LATE)).toBeTruthy();
    expect(reason.value).toBe('late');
    expect(sent).toEqual([{ decision: 'refuse', reason: 'late' }]);
  });

  it('a person who may not decide sees the message only', async () => {
    shown({ allowed_actions: [] });
    expect(await screen.findByText('17 rows; publish?', {}, LATE)).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Decide' })).toBeNull();
  });
});
