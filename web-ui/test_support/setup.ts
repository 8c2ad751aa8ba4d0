import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { startTexts } from '../src/i18n';
import { setPreferences } from '../src/lib/preferences';
import { server } from './server';

configure({ asyncUtilTimeout: 60_000 }); // no limit of a test that passes, on any machine

beforeAll(async () => {
  document.head.innerHTML = '<base href="http://console.test/">';
  setPreferences({ language: 'en', time: 'utc', live: false });
  await startTexts();
  server.listen({ onUnhandledRequest: 'error' });
});
afterEach(() => {
  cleanup();
  server.resetHandlers();
});
afterAll(() => server.close());
