// Hook that gives a component its texts and renders it again when the language changes.
//
// Used instead of react-i18next, whose every call copies all of i18next's state; a list calls the hook
// about ten times per row.
import i18next, { type TFunction, type i18n } from 'i18next';
import { useSyncExternalStore } from 'react';

interface Texts {
  t: TFunction;
  i18n: i18n;
}

// Creates a new `t` for each language, so that values memoised by `t` are computed again. Texts without
// placeholders are cached, because i18next handles plurals, contexts and nesting in every lookup. A missing
// text is not cached, because its catalogue may be loaded later, with its page.
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
