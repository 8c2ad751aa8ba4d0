import { fireEvent, render, screen, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import type { SystemStatus } from '../../api/types';
import { HistoryCard } from './history_card';
import { KEPT_MS, byMinute, sampleOf, stretches, withSample, type Sample } from './samples';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const status = (more: object = {}) =>
  ({
    late_ms: { p50: 1, p99: 20 },
    oldest_overdue_ms: 0,
    runs_pending: 3,
    runs_running: 1,
    lag: { tasks: 1, results: 2, logs: 3 },
    ...more,
  }) as SystemStatus;
const sample = (at: number, more: Partial<Sample> = {}): Sample => ({
  at: NOON + at * 1000,
  late: 20,
  overdue: 0,
  pending: 3,
  running: 1,
  lag: 6,
  ...more,
});

describe('the samples of the status', () => {
  it('a status sample keeps the drawn values; one unknown queue makes the lag unknown', () => {
    expect(sampleOf(status(), NOON)).toEqual(sample(0));
    expect(sampleOf(status({ lag: { tasks: null, results: 2, logs: 3 }, runs_pending: null }), NOON)).toEqual(
      sample(0, { lag: null, pending: null }),
    );
  });

  it('the samples are kept for an hour, each once, up to a limit', () => {
    const first = withSample([], sample(0));
    expect(withSample(first, sample(0, { late: 99 }))).toBe(first);
    expect(withSample(first, { ...sample(0), at: NOON + KEPT_MS }).map((one) => one.at)).toEqual([
      NOON + KEPT_MS,
    ]);
    let all: readonly Sample[] = [];
    for (let i = 0; i < 3000; i += 1) all = withSample(all, { ...sample(0), at: NOON + i });
    expect(all.length).toBe(2000);
    expect(all.at(-1)!.at).toBe(NOON + 2999);
  });

  it('the chart joins samples only where the value was observed', () => {
    const all = [sample(0), sample(5), sample(10, { late: null }), sample(15), sample(105), sample(196)];
    expect(stretches(all, 'late').map((line) => line.map((one) => (one.at - NOON) / 1000))).toEqual([
      [0, 5],
      [15, 105],
      [196],
    ]);
    expect(stretches(all, 'pending').map((line) => line.length)).toEqual([5, 1]);
    expect(stretches([], 'late')).toEqual([]);
  });

  it('the table shows the maximum of each minute, newest first', () => {
    const rows = byMinute([
      sample(0, { late: 5 }),
      sample(30, { late: 50, lag: null }),
      sample(59, { late: null }),
      sample(60, { late: null }),
    ]);
    expect(rows.map((one) => [(one.at - NOON) / 1000, one.late, one.lag])).toEqual([
      [60, null, 6],
      [0, 50, 6],
    ]);
  });
});

describe('the history card', () => {
  it('the history card draws the samples in the range of the address', () => {
    const onRange = vi.fn();
    const card = (at: number, more: object = {}, range?: '15') => (
      <HistoryCard status={status(more)} readAt={NOON + at * 1000} range={range} onRange={onRange} />
    );
    const { rerender } = render(card(0, { runs_pending: 7 }));
    rerender(card(5, { runs_pending: 4 }));
    const term = screen.getByText('Pending runs', { selector: 'dt' }).parentElement!;
    expect(term.textContent).toContain('now 4, max 7');
    expect(within(term).getByTestId('history-pending').querySelectorAll('polyline').length).toBe(1);
    // Six minutes later, the range of five minutes contains only the new sample. The range of fifteen minutes
    // contains both samples, as two lines.
    rerender(card(365, { runs_pending: 5 }));
    expect(term.textContent).toContain('now 5, max 5');
    rerender(card(365, { runs_pending: 5 }, '15'));
    expect(term.textContent).toContain('now 5, max 7');
    expect(within(term).getByTestId('history-pending').querySelectorAll('polyline').length).toBe(2);
    expect(screen.getAllByRole('row', { hidden: true }).length).toBe(1 + 2);
    fireEvent.change(screen.getByLabelText('Range'), { target: { value: '60' } });
    fireEvent.change(screen.getByLabelText('Range'), { target: { value: '5' } });
    expect(onRange.mock.calls).toEqual([['60'], [undefined]]);
  });
});
