import '../../../../test_support/texts';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Job } from '../../../api/types';
import { queryClient } from '../../../api/queries';
import { HttpResponse, at, http, server } from '../../../../test_support/server';
import { SLOW_MS, show } from '../../../../test_support/workflow_nodes';
import { JobEditor } from '../form/job_editor';

beforeEach(() => queryClient.clear());

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
