import { addEnglish } from '../i18n';

export const en = {
  'denied.own': 'Owned by another user and not shared with you.',
  'auth.sign_in': 'Sign in',
  // Signing in.
  'auth.title': 'Sign in',
  'auth.password_short': 'The password must have at least {{count}} characters.',
  'auth.refused': 'Wrong name or password.',
  'auth.unavailable': 'The server cannot check your sign-in right now. Try again in a moment.',
  'auth.expired': 'Your session has ended. Sign in again.',
  'auth.token_hint':
    'The first start of the server writes a token to admin.token in the data directory. The browser keeps the token until this tab is closed.',
  'auth.token_refused': 'This token is unknown or no longer valid.',
  'auth.use_password': 'Sign in with name and password',
  'auth.use_token': 'Sign in with an API token',
  'auth.setup': 'Create administrator',
  'auth.setup_title': 'Initial setup',
  'auth.setup_explain': 'Choose a name and password for the first administrator. This link works once.',
  'auth.setup_hint':
    'There are no accounts yet. Open the one-time link that the server printed when it started.',
  'auth.setup_refused': 'The link was already used or has expired, or the name or password was not accepted.',
} as const;
addEnglish(en);
