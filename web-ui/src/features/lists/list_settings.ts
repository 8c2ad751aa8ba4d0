// Stores the user's list settings in this browser.
const PREFIX = 'carillon.';

export function kept(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name) ?? 'null');
  } catch {
    return null; // the browser forbids storage, or the stored value is not valid JSON
  }
}

export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // The browser forbids storage. The setting then applies until the page is closed.
  }
}
