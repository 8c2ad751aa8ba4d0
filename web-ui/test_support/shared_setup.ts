// For files that share the console's modules and the window of their worker: each leaves both as it found them.
import { afterAll, vi } from 'vitest';
import { start } from '../src/auth/session';
import { setPreferences } from '../src/lib/preferences';
import { HttpResponse, at, http, server } from './server';

afterAll(async () => {
  vi.useRealTimers();
  setPreferences({ theme: 'system', zone: '', shortcuts: true, wrap: false });
  localStorage.clear();
  sessionStorage.clear();
  document.body.innerHTML = '';
  history.replaceState(null, '', '/');
  server.use(http.get(at('auth/state'), () => HttpResponse.json({ setup_needed: false })));
  await start(); // without a credential, so that nobody is signed in
  server.resetHandlers();
});
