import '../../../../test_support/texts';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../../api/queries';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';
import { SLOW_MS, nodes, run, runNode, show } from '../../../../test_support/workflow_nodes';
import RetryNodesDialog from './retry_nodes_dialog';
import '../../../ui/dialogs/modal_dialog';

beforeEach(() => queryClient.clear());

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
