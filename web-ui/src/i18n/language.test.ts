import i18next from 'i18next';
import { afterEach, expect, it, vi } from 'vitest';
import { startTexts } from '.';
import { setPreferences } from '../lib/preferences';

const held = vi.hoisted(() => {
  let give = () => {};
  return {
    texts: new Promise<void>((resolve) => {
      give = resolve;
    }),
    give: () => give(),
  };
});
const WAIT = { timeout: 10_000 };
vi.mock('./zh_cn', async (original) => {
  await held.texts;
  return original();
});
afterEach(() => setPreferences({ language: 'en' }));

it('the language chosen last wins, even when earlier texts arrive later', async () => {
  setPreferences({ language: 'zh-CN' });
  const started = startTexts();
  setPreferences({ language: 'en' });
  held.give();
  await started;
  await vi.waitFor(() => expect(i18next.hasResourceBundle('zh-CN', 'translation')).toBe(true), WAIT);
  expect([i18next.language, document.documentElement.lang]).toEqual(['en', 'en']);
  setPreferences({ language: 'zh-CN' });
  await vi.waitFor(() => expect(document.documentElement.lang).toBe('zh-CN'), WAIT);
});
