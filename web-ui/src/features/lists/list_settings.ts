// Stores the user's list settings in this browser.
const PREFIX = 'carillon.';

export function kept(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name) ?? 'null');
  } catch {
    return null; // storage is forbidden, or contains something else
  }
}

export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Storage is forbidden: the setting applies until the page is closed.
  }
}
