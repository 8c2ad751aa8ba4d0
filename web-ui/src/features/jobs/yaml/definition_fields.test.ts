import { describe, expect, it } from 'vitest';
import { HttpResponse, at, http, server } from '../../../../test_support/server';
import { offerAt, suggestIn } from './definition_fields';

const NODES = 'nodes:\n  - {id: load, job: load-orders}\n  - {id: audit, job: audit}\n';
// The bar stands for the place of typing.
const place = (text: string) => [text.replace('|', ''), text.indexOf('|')] as const;
const labels = (text: string, within: '' | 'workflow' = 'workflow') =>
  offerAt(...place(text), within)?.options.map(({ label }) => label);

describe('suggestions in a definition', () => {
  it('the ids of the other nodes are suggested behind after', () => {
    expect(labels(NODES + '  - {id: report, job: report, after: [|')).toEqual(['load', 'audit']);
    expect(labels(NODES + '  - id: report\n    after:\n      - a|')).toEqual([
      'load',
      'audit',
      'node',
      'on',
      'if',
      'recovers',
    ]);
    expect(labels(NODES + '  - {id: x, after: [{node: |')).toEqual(['load', 'audit']);
  });

  it('the fields are suggested that an object does not have yet', () => {
    const more = labels('nodes:\n  - {id: load, |') ?? [];
    expect(more.slice(0, 5)).toEqual(['job', 'task', 'approval', 'wait', 'after']);
    expect(more).not.toContain('id');
    expect(labels('nodes:\n  - {id: load, task: {ty|')).toContain('type');
    expect(labels('nodes:\n  - {id: gate, approval: {|')).toEqual([
      'message',
      'timeout_s',
      'on_timeout',
      'by',
    ]);
    expect(labels('nodes:\n  - {id: gate, wait: {|')).toEqual(['until', 'day', 'for_s']);
    expect(labels('name: x\ntype: shell\nretry_|', '')).toContain('retry_count');
    expect(labels('name: x\ntype: shell\nretry_|', '')).not.toContain('type');
    expect(labels('name: x\nworkflow:\n  |', '')).toEqual([
      'max_parallel',
      'nodes',
      'finally_timeout',
      'outputs',
    ]);
  });

  it('the kind and the fields of a trigger are suggested', () => {
    expect(labels('name: x\nschedules:\n  - {kind: |', '')).toContain('event');
    expect(labels('name: x\nschedules:\n  - {kind: event, |', '')).toEqual(
      expect.arrayContaining(['type', 'source', 'filter', 'parameters']),
    );
  });

  it('the words of a value are suggested, and nothing for a free text', () => {
    expect(labels('nodes:\n  - {id: a, after: [{node: b, on: |')).toEqual(['success', 'failure', 'done']);
    expect(labels('type: wo|', '')).toContain('workflow');
    expect(labels('description: a|', '')).toEqual([]);
  });

  it('ids of jobs come from the server, with the names of the jobs', async () => {
    const asked: string[] = [];
    server.use(
      http.get(at('jobs'), ({ request }) => {
        asked.push(new URL(request.url).searchParams.get('q') ?? '');
        return HttpResponse.json({
          items: [{ job_id: 'load-orders', name: 'Load orders' }],
          next_page_token: null,
        });
      }),
    );
    const found = await suggestIn('workflow')(...place('nodes:\n  - {id: a, job: lo|}'), false);
    expect(found).toEqual({
      from: 24,
      options: [{ label: 'load-orders', detail: 'Load orders' }],
      isWhole: true,
    });
    expect(asked).toEqual(['lo']);
  });
});
