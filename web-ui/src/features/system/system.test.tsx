import { fireEvent, render, renderHook, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { useEvery } from '../../api/queries';
import type { Member, SystemStatus } from '../../api/types';
import { MembersCard } from './members_card';
import { pauseMismatch, metricsOf, skewOf, versionsOf } from './member_values';
import { RefreshChoice, paceOf } from './refresh_choice';
import { useLive } from '../../lib/poll_interval';
import { setPreferences } from '../../lib/preferences';

const member = (id: string, more: Partial<Member> = {}): Member => ({
  id,
  address: 'http://' + id,
  owned_segments: 1,
  clock_offset_ms: 0.2,
  version: null,
  ops_url: null,
  paused: null,
  ...more,
});
const pause = { since: '2026-03-01T02:00:00Z', by: 'anna', reason: 'upgrade' };

describe('metrics links', () => {
  it.each([
    ['http://127.0.0.1:8642', 'localhost', 'http://127.0.0.1:8642/metrics'],
    ['http://[::1]:8642', '127.0.0.1', 'http://[::1]:8642/metrics'],
    ['http://10.0.0.7:8642', 'console.example', 'http://10.0.0.7:8642/metrics'],
    ['http://127.0.0.1:8642', 'console.example', undefined], // loopback means the member's own host
    ['http://0.0.0.0:8642', 'localhost', undefined],
    ['http://[::]:8642', 'console.example', undefined],
    ['javascript:alert(1)', 'localhost', undefined],
    ['no address', 'localhost', undefined],
  ])('the metrics of %s seen from %s are at %s', (ops, here, at) => {
    expect(metricsOf(ops, here)).toBe(at);
  });
});

describe('the versions of the members', () => {
  const mixed = [
    member('m1', { version: '0.2.0' }),
    member('m2', { version: '0.1.0' }),
    member('m3', { version: '0.2.0' }),
    member('m4', { version: null }),
    member('m5'),
  ];
  it('members are grouped by version, without unknown ones', () => {
    expect(versionsOf(mixed)).toEqual([
      { version: '0.1.0', ids: ['m2'] },
      { version: '0.2.0', ids: ['m1', 'm3'] },
    ]);
  });
  it('a version skew needs two known versions', () => {
    expect(skewOf(mixed)).toBe('0.1.0 (m2), 0.2.0 (m1, m3)');
    expect(skewOf([member('m1', { version: '0.2.0' }), member('m2', { version: null })])).toBeUndefined();
    expect(skewOf([])).toBeUndefined();
  });
  it('the members card shows versions, and a warning when they differ', () => {
    const { rerender } = render(<MembersCard status={{ leader: 'm1', members: mixed } as SystemStatus} />);
    expect(screen.getByRole('row', { name: /m2/ }).textContent).toContain('0.1.0');
    expect(screen.getByRole('row', { name: /m4/ }).textContent).toContain('–');
    expect(screen.getByRole('status').textContent).toBe(
      'Members run different versions: 0.1.0 (m2), 0.2.0 (m1, m3). Finish the upgrade.',
    );
    rerender(
      <MembersCard
        status={{ leader: 'm1', members: [member('m1', { version: '0.2.0' })] } as SystemStatus}
      />,
    );
    expect(screen.queryByRole('status')).toBeNull();
  });
});

describe('members apart from the pause', () => {
  const members = [
    member('m1', { paused: true }),
    member('m2', { paused: false }),
    member('m3', { paused: null }),
    member('m4', { paused: undefined }),
  ];
  it('pauseMismatch lists members that have not paused, and those whose pause is unknown', () => {
    expect(pauseMismatch({ members, paused: pause })).toEqual({ behind: ['m2'], unknown: ['m3', 'm4'] });
  });
  it('pauseMismatch lists members that still pause after a resume', () => {
    expect(pauseMismatch({ members, paused: null })).toEqual({ behind: ['m1'], unknown: ['m3', 'm4'] });
    const older = { members: [member('m1', { paused: false })] } as SystemStatus; // an older server
    expect(pauseMismatch(older)).toEqual({ behind: [], unknown: [] });
  });
});

describe('the refresh choice', () => {
  afterEach(() => setPreferences({ live: false }));
  const paces = () => renderHook(() => [useEvery(5000), useLive()]);

  it('the refresh choice sets the pace of all reads until the page is left', () => {
    setPreferences({ live: true });
    const seen = paces();
    expect(seen.result.current).toEqual([5000, true]);
    const page = render(<RefreshChoice chosen="60" onChange={() => {}} />);
    expect(seen.result.current).toEqual([60_000, true]);
    page.rerender(<RefreshChoice chosen="off" onChange={() => {}} />);
    expect(seen.result.current).toEqual([false, false]);
    page.rerender(<RefreshChoice chosen={undefined} onChange={() => {}} />);
    expect(seen.result.current).toEqual([5000, true]);
    page.rerender(<RefreshChoice chosen="15" onChange={() => {}} />);
    page.unmount();
    expect(seen.result.current).toEqual([5000, true]);
  });

  it('the refresh choice is disabled while updates are paused', () => {
    render(<RefreshChoice chosen="15" onChange={() => {}} />);
    expect(paces().result.current).toEqual([false, false]);
    expect(screen.getByLabelText<HTMLSelectElement>('Refresh').disabled).toBe(true);
  });

  it('the refresh choice is named in the address, except the default', () => {
    setPreferences({ live: true });
    const chosen = vi.fn();
    render(<RefreshChoice chosen="off" onChange={chosen} />);
    for (const value of ['15', '5', '60'])
      fireEvent.change(screen.getByLabelText('Refresh'), { target: { value } });
    expect(chosen.mock.calls).toEqual([['15'], [undefined], ['60']]);
    expect([paceOf('off'), paceOf('15'), paceOf(undefined)]).toEqual([false, 15_000, undefined]);
  });
});
