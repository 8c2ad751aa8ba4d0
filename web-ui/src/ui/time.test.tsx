import { act, render } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setPreferences } from '../lib/preferences';
import { Time } from './time';

const clock = vi.hoisted(() => ({ now: Date.parse('2026-03-01T02:00:00Z') }));
vi.mock('../lib/clock', () => ({ useNow: () => clock.now }));

const at = (ms: number) => new Date(clock.now + ms).toISOString();
const shown = (ms: number, past?: boolean) => render(<Time at={at(ms)} past={past} />).container.textContent;

beforeEach(() => setPreferences({ time: 'relative' }));
afterEach(() => setPreferences({ language: 'en', time: 'utc' }));

it('a time within the last second is “a moment ago”', () => {
  expect([shown(0), shown(-999), shown(-1000)]).toEqual(['a moment ago', 'a moment ago', '1 sec. ago']);
  expect(shown(400)).toBe('now');
});

it('a past time ahead of the page’s clock is “a moment ago”', () => {
  expect([shown(400, true), shown(1500, true)]).toEqual(['a moment ago', 'a moment ago']);
});

it('a time within the last second is “刚刚” in Chinese', async () => {
  act(() => setPreferences({ language: 'zh-CN' }));
  await vi.waitFor(() => expect(shown(0)).toBe('刚刚'), { timeout: 60_000 });
});
