// Preferences in this browser: theme, language, time format, shortcuts, refresh. auth/preference_sync also
// stores the first three with the user.
import { useSyncExternalStore } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export const LANGUAGES = ['en', 'zh-CN'] as const;
export const TIME_MODES = ['relative', 'local', 'utc', 'job'] as const;

export interface Preferences {
  theme: (typeof THEMES)[number];
  language: (typeof LANGUAGES)[number];
  time: (typeof TIME_MODES)[number];
  zone: string; // zone of local times; empty: the browser's zone
  shortcuts: boolean;
  live: boolean;
  wrap: boolean;
}

const KEY = 'carillon.preferences';

function firstLanguage(): Preferences['language'] {
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

function oneOf<T extends string>(all: readonly T[], value: unknown, fallback: T): T {
  return all.includes(value as T) ? (value as T) : fallback;
}

function load(): Preferences {
  let stored: Partial<Record<keyof Preferences, unknown>> = {};
  try {
    stored = JSON.parse(localStorage.getItem(KEY) ?? '{}') ?? {};
  } catch {
    // The browser forbids storage, or the stored value is not valid JSON. The defaults are used.
  }
  return {
    theme: oneOf(THEMES, stored.theme, 'system'),
    language: oneOf(LANGUAGES, stored.language, firstLanguage()),
    time: oneOf(TIME_MODES, stored.time, 'relative'),
    zone: typeof stored.zone === 'string' ? stored.zone : '',
    shortcuts: stored.shortcuts !== false,
    live: stored.live !== false,
    wrap: stored.wrap === true,
  };
}

let current = load();
const listeners = new Set<() => void>();

export const preferences = () => current;

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // The browser forbids storage. The preferences then apply until the page is closed.
  }
  applyTheme();
  listeners.forEach((listener) => listener());
}

export function onPreferences(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(onPreferences, preferences);
}

export function applyTheme(): void {
  const root = document.documentElement;
  if (current.theme === 'system') root.removeAttribute('data-theme');
  else root.setAttribute('data-theme', current.theme);
}
