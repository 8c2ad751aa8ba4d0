// Stores how the user is signed in. An API token is in the sessionStorage of this tab. A session is in a
// cookie, which scripts cannot read. So localStorage stores that a session exists. Without this entry no
// access token is requested.
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
    // The browser forbids storage. The user must then enter the token again after a reload.
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
    // The browser forbids storage. hasSession() is then always true, so every start requests an access token.
  }
}
