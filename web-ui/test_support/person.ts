// Somebody who is signed in, with the permissions that a test gives.
import { start } from '../src/auth/session';
import { HttpResponse, at, http, server } from './server';

export async function signedInAs(permissions: readonly string[], more: object = {}): Promise<void> {
  server.use(
    http.get(at('auth/state'), () => HttpResponse.json({ setup_needed: false })),
    http.get(at('auth/me'), () =>
      HttpResponse.json({
        kind: 'user',
        user_id: 'user-1',
        name: 'anna',
        display_name: '',
        role: 'user',
        permissions,
        ...more,
      }),
    ),
  );
  sessionStorage.setItem('carillon.token', 'of-a-test');
  await start();
}
