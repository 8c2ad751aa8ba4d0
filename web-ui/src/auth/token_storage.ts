// Stores the sign-in in this browser: an API token in this tab's sessionStorage, and in
// localStorage a note that a session exists. Scripts cannot read the session's cookie; without the
// note no access token is requested.
const TOKEN_KEY = 'carillon.token';
export const SESSION_KEY = 'carillon.session';

export function storedToken(): string {
  try {
    return sessionStorage.getItem(TOKEN_KEY) ?? '';
  } catch {
    return '';
  }
}

export function storeToken(token: string): void {
  try {
    if (token) sessionStorage.setItem(TOKEN_KEY, token);
    else sessionStorage.removeItem(TOKEN_KEY);
  } catch {
    // Storage is forbidden: the user must enter the token again after a reload.
  }
}

export function hasSession(): boolean {
  try {
    return localStorage.getItem(SESSION_KEY) !== null;
  } catch {
    return true;
  }
}

export function noteSession(exists: boolean): void {
  try {
    if (exists) localStorage.setItem(SESSION_KEY, '1');
    else localStorage.removeItem(SESSION_KEY);
  } catch {
    // Storage is forbidden: hasSession() is then always true, so every start requests an access token.
  }
}
