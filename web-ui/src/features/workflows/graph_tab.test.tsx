import '../../../test_support/texts';
import { fireEvent, screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../api/queries';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import { SLOW_MS, edge, graphNode, rows, show } from '../../../test_support/workflow_nodes';
import GraphTab from './graph_tab';

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
