// The texts for a component, which is drawn anew when another language is on.
//
// Not react-i18next's: each of its calls copies all that i18next holds, and a row of a list has ten of them.
import i18next, { type TFunction, type i18n } from 'i18next';
import { useSyncExternalStore } from 'react';

interface Texts {
  t: TFunction;
  i18n: i18n;
}

// Another one with each language: what was made by it is not kept over that. Texts with nothing to fill in are looked up
// once: i18next prepares for plurals, contexts and nesting each time. One that is not there yet may come with its page.
function textsNow(): Texts {
  const plain = new Map<unknown, string>();
  const lookUp = (...args: Parameters<TFunction>) => {
    const [key] = args;
    if (args.length > 1 || typeof key !== 'string') return i18next.t(...args);
    let text = plain.get(key);
    if (text === undefined) {
      text = i18next.t(...args);
      if (i18next.exists(key)) plain.set(key, text);
    }
    return text;
  };
  return { t: lookUp as TFunction, i18n: i18next };
}

let texts = textsNow();
const listeners = new Set<() => void>();
i18next.on('languageChanged', () => {
  texts = textsNow();
  listeners.forEach((listener) => listener());
});

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useTranslation = (): Texts => useSyncExternalStore(subscribe, () => texts);
