import { act, renderHook } from '@testing-library/react';
import i18next from 'i18next';
import { afterEach, expect, it, vi } from 'vitest';
import { addEnglish } from '.';
import { useTranslation } from './use_translation';
import { setPreferences } from '../lib/preferences';

afterEach(() => setPreferences({ language: 'en' }));

it('useTranslation caches texts, but neither missing ones nor those of another language', async () => {
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { result } = renderHook(() => useTranslation());
  const t = (key: string, values?: object) => result.current.t(key, values as never) as unknown as string;
  expect(t('of.a.later.page')).toBe('of.a.later.page');
  expect(complaints).toHaveBeenCalledWith('missing text: of.a.later.page');
  addEnglish({ 'of.a.later.page': 'Later', 'of.some': 'Some {{what}}' });
  expect([t('of.a.later.page'), t('of.a.later.page'), t('cancel')]).toEqual(['Later', 'Later', 'Cancel']);
  expect([t('of.some', { what: 'jobs' }), t('of.some', { what: 'runs' })]).toEqual([
    'Some jobs',
    'Some runs',
  ]);
  act(() => setPreferences({ language: 'zh-CN' }));
  await vi.waitFor(() => expect(i18next.language).toBe('zh-CN'));
  expect(t('cancel')).toBe('取消');
});
