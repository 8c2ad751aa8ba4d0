import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { answerBulk, many, type Asked } from '../../../test_support/bulk';
import { List, show } from '../../../test_support/list';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import { totalOf } from '../../api/queries';

const ticked = (name: string) =>
  screen.getByRole<HTMLInputElement>('checkbox', { name: 'Select ' + name }).checked;

describe('the total of a list', () => {
  const page = (members: object) => ({
    pages: [
      { items: [], next_page_token: null, ...members },
      { items: [], next_page_token: null },
    ],
  });
  it('the total of a list comes from its first page', () => {
    expect(totalOf(page({ total: 0 }))).toEqual({ n: 0, more: false });
    expect(totalOf(page({ total_at_least: 1000 }))).toEqual({ n: 1000, more: true });
    expect(totalOf(page({}))).toBeNull();
    expect(totalOf(undefined)).toBeNull();
  });
  it.each([
    [{ n: 1000, more: true }, '1,000+ jobs'],
    [{ n: 42, more: false }, '42 jobs'],
    [{ n: 1, more: false }, '1 job'],
    [{ n: 1, more: true }, '1+ jobs'],
  ])('the list bar shows the total: %j', async (total, text) => {
    show(<List total={total} />);
    expect((await screen.findByTestId('total')).textContent).toBe(text);
  });
  it('the list bar shows no total when the server gives none', async () => {
    show(<List />);
    await screen.findByRole('checkbox', { name: 'Select all 2 shown' });
    expect(screen.queryByTestId('total')).toBeNull();
  });
});

describe('the bar', () => {
  it('the list bar previews, confirms, shows each result by name and keeps failures selected', async () => {
    const seen = answerBulk(['hers']);
    show(<List />);
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Select all 2 shown' }));
    fireEvent.click(screen.getByRole('button', { name: 'Pause' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Pause these jobs?' }));
    await dialog.findByText('1 of 2 jobs can be paused');
    expect(
      within(dialog.getByRole('region', { name: 'Not possible for' })).getByRole('link').textContent,
    ).toBe('Her job');
    fireEvent.change(dialog.getByLabelText('Reason (optional)'), { target: { value: ' moving ' } });
    fireEvent.click(dialog.getByRole('button', { name: 'Pause' }));
    await dialog.findByText('1 done, 1 failed');
    dialog.getByRole('heading', { name: 'Pause 2 jobs' });
    const failed = within(dialog.getByRole('region', { name: 'Failed' }));
    expect(failed.getByRole('listitem').textContent).toBe('Her jobhers belongs to somebody else.');
    expect(dialog.getByRole('region', { name: 'Done' }).textContent).toContain('My job');
    expect(seen.map((one) => [one.dry_run ?? false, one.action, one.reason])).toEqual([
      [true, 'pause', undefined],
      [false, 'pause', 'moving'],
    ]);
    fireEvent.click(dialog.getAllByRole('button', { name: 'Close' }).at(-1)!);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect([ticked('My job'), ticked('Her job')]).toEqual([false, true]);
  });
  it('the list bar reports items with an unknown result and does not keep them selected', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true, advanceTimeDelta: 20 });
    server.use(
      http.post(at('bulk'), async ({ request }) => {
        const { dry_run, ids } = (await request.json()) as Asked;
        return dry_run
          ? HttpResponse.json({
              total: ids!.length,
              more: false,
              items: ids!.map((id) => ({ id, result: 'would', run_id: null, error: null })),
            })
          : problem(504, 'outcome_unknown', 'Look at the runs.');
      }),
    );
    show(<List />);
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Select all 2 shown' }));
    fireEvent.click(screen.getByRole('button', { name: 'Run now' }));
    const dialog = within(await screen.findByRole('dialog'));
    await dialog.findByText('2 of 2 jobs can be started');
    fireEvent.click(dialog.getByRole('button', { name: 'Run now' }));
    await vi.waitFor(
      async () => {
        await vi.advanceTimersByTimeAsync(1000);
        dialog.getByText('0 done, 0 failed, 2 unknown');
      },
      { timeout: 5000 },
    );
    vi.useRealTimers();
    const unsure = within(dialog.getByRole('region', { name: 'Result unknown' }));
    expect(unsure.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      'My jobLook at the runs.',
      'Her jobLook at the runs.',
    ]);
    fireEvent.click(dialog.getAllByRole('button', { name: 'Close' }).at(-1)!);
    await waitFor(() => expect([ticked('My job'), ticked('Her job')]).toEqual([false, false]));
  });
  it('the list bar acts on all matches by the filter', async () => {
    const seen = answerBulk([], [], many(137));
    show(<List hasMore />);
    fireEvent.click(await screen.findByRole('checkbox', { name: 'Select all 2 shown' }));
    fireEvent.click(screen.getByRole('button', { name: 'Select all matches' }));
    await screen.findByText('All 137 matches are selected');
    fireEvent.click(screen.getByRole('button', { name: 'Resume' }));
    await screen.findByText('137 of 137 jobs can be resumed');
    expect(seen.at(-1)).toMatchObject({ action: 'resume', filter: { q: 'job' }, dry_run: true });
    expect(seen.every((one) => one.dry_run)).toBe(true);
  });
  it('the list bar moves the focus to what remains when nothing stays selected', async () => {
    answerBulk([]);
    show(<List />);
    await screen.findByText('Select all 2 shown');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Select My job' }));
    fireEvent.click(screen.getByRole('button', { name: 'Run now' }));
    const dialog = within(await screen.findByRole('dialog'));
    await dialog.findByText('1 of 1 jobs can be started');
    fireEvent.click(dialog.getByRole('button', { name: 'Run now' }));
    await dialog.findByText('1 done, 0 failed');
    fireEvent.click(dialog.getAllByRole('button', { name: 'Close' }).at(-1)!);
    await waitFor(() =>
      expect(document.activeElement).toBe(screen.getByRole('checkbox', { name: 'Select all 2 shown' })),
    );
    expect(ticked('My job')).toBe(false);
  });
  it('the list bar shows why a preview failed and disables the action', async () => {
    server.use(http.post(at('bulk'), () => problem(403, 'forbidden', 'Your role is read-only.')));
    show(<List />);
    await screen.findByText('Select all 2 shown');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Select My job' }));
    fireEvent.click(screen.getByRole('button', { name: 'Run now' }));
    const dialog = within(await screen.findByRole('dialog'));
    expect((await dialog.findByRole('alert')).textContent).toBe('Your role is read-only.');
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Run now' }).disabled).toBe(true);
  });
  it('the list bar selects a range with the shift key', async () => {
    show(<List />);
    await screen.findByText('Select all 2 shown');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Select My job' }));
    fireEvent.click(screen.getByRole('checkbox', { name: 'Select Her job' }), { shiftKey: true });
    await screen.findByText('2 selected');
    fireEvent.click(screen.getByRole('button', { name: 'Clear selection' }));
    expect([ticked('My job'), ticked('Her job')]).toEqual([false, false]);
  });
});
