import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen, within } from '@testing-library/react';
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../api/queries';
import { DependenciesCard } from './dependencies_card';
import { en } from './texts.en';
import { zhCN } from './texts.zh_cn';
import { HttpResponse, at, http, server } from '../../../test_support/server';

const effect = (code: string, after_s = 0, until_s: number | null = null) => {
  const [, capability, kind] = code.split('.');
  return { code, capability, effect: kind, after_s, until_s, detail: 'As the server says.' };
};
const node = (id: string, kind: string, state: string, more: object = {}) => ({
  id,
  kind,
  name: id.split(':').at(-1),
  address: null,
  state,
  detail: null,
  affects: [],
  ...more,
});
const sound = {
  seen_by: 'm1',
  time: '2026-03-01T02:00:00Z',
  state: 'ok',
  nodes: [
    node('bus', 'bus', 'ok', { affects: [effect('bus.starting.delayed'), effect('bus.running.goes_on')] }),
    node('member:m1', 'member', 'ok', {
      leader: true,
      affects: [effect('last_member.running.stops', 20), effect('member.planning.delayed', 0, 6)],
    }),
  ],
  edges: [{ from: 'member:m1', to: 'bus', purpose: 'messages', critical: true, state: 'ok' }],
  impact: [],
};
const down = {
  ...sound,
  state: 'down',
  nodes: [{ ...sound.nodes[0], state: 'down', detail: 'No response for: carillon.results.' }, sound.nodes[1]],
  edges: [{ ...sound.edges[0], state: 'down' }],
  impact: [
    { ...effect('bus.starting.delayed'), nodes: ['bus'] },
    { ...effect('later.starting.delayed'), nodes: ['bus'] },
  ],
};
function show(topology: object) {
  server.use(http.get(at('system/topology'), () => HttpResponse.json(topology)));
  return render(
    <QueryClientProvider client={queryClient}>
      <DependenciesCard />
    </QueryClientProvider>,
  );
}
beforeEach(() => queryClient.clear());

describe('the dependencies', () => {
  it('the dependencies card shows what each part needs and what stops without it', async () => {
    const { container } = show(sound);
    await screen.findByText('Member m1');
    const member = within(container.querySelector<HTMLElement>('[data-node="member:m1"]')!);
    expect(member.getByText('Leader')).toBeTruthy();
    expect(member.getByText('tasks and results', { exact: false })).toBeTruthy();
    expect(member.getByText('1 feature stops, 1 delayed')).toBeTruthy();
    expect(member.getByText('Active runs: Stops (after 20 s).')).toBeTruthy();
    expect(member.getByText('Planning fires: Delayed (for up to 6 s).')).toBeTruthy();
    expect(screen.getByText(/Nothing is down/)).toBeTruthy();
    expect(screen.queryByTestId('impact')).toBeNull();
  });

  it('the dependencies card shows the present impact of an outage', async () => {
    const { container } = show(down);
    const impact = within(await screen.findByTestId('impact'));
    expect(impact.getByText('Current impact (Bus)')).toBeTruthy();
    expect(impact.getByText(/Tasks are delayed/)).toBeTruthy();
    expect(impact.getByText('As the server says.').getAttribute('lang')).toBe('en');
    expect(container.querySelector('[data-node="bus"] [data-node-state="down"]')).toBeTruthy();
    expect(container.querySelector('[data-node="member:m1"]')!.textContent).toContain('(Down)');
    expect(screen.queryByText(/Nothing is down/)).toBeNull();
  });
});

describe('the sentences', () => {
  const table = readFileSync('../common/domain/outage.cc', 'utf8');
  const snake = (name: string) =>
    name
      .slice(1)
      .replace(/(?!^)[A-Z]/g, (c) => '_' + c)
      .toLowerCase();
  const rows = [...table.matchAll(/\{(k\w+), (k\w+), (k\w+), k\w+, k\w+,\s*((?:"[^"]*"\s*)+)\}/g)].map(
    ([, outage, capability, effects, text]) =>
      [
        'outage.' + [outage, capability, effects].map((name) => snake(name!)).join('.'),
        [...text!.matchAll(/"([^"]*)"/g)].map((part) => part[1]).join(''),
      ] as const,
  );

  it('the outage texts equal the server’s, in both languages', () => {
    expect(rows.length).toBeGreaterThan(40);
    const spoken = Object.fromEntries(Object.entries(en).filter(([key]) => key.startsWith('outage.')));
    expect(spoken).toEqual(Object.fromEntries(rows));
    expect(rows.filter(([key]) => !(key in zhCN))).toEqual([]);
  });

  it('the outage texts cover every value of the API contract', () => {
    const contract = readFileSync('../scheduler/openapi/openapi.yaml', 'utf8');
    const part = contract.slice(contract.indexOf('    NodeState:'), contract.indexOf('    Store:\n'));
    const listed = (name: string) =>
      part.match(new RegExp(`${name}: \\{type: string, enum: \\[([a-z_, ]+)\\]`))![1]!.split(', ');
    const wanted = [
      ...listed('NodeState').map((one) => 'node_state.' + one),
      ...listed('effect').map((one) => 'effect.' + one),
      ...listed('kind').map((one) => 'part.' + one),
      ...listed('purpose').map((one) => 'purpose.' + one),
      ...part
        .match(/capability:\s+type: string\s+enum: \[([a-z_, ]+)\]/)![1]!
        .split(', ')
        .map((one) => 'capability.' + one),
    ];
    expect(wanted.length).toBeGreaterThan(30);
    expect(wanted.filter((key) => !(key in en) || !(key in zhCN))).toEqual([]);
  });
});
