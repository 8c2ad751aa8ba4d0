// Hook that gives a component its texts. It renders the component again when the language changes.
//
// It replaces the hook of react-i18next. Each call of that hook copies the whole state of i18next, and a list
// calls its hook about ten times per row.
import i18next, { type TFunction, type i18n } from 'i18next';
import { useSyncExternalStore } from 'react';

interface Texts {
  t: TFunction;
  i18n: i18n;
}

// Creates a new `t` for each language, so that values memoised by `t` are computed again. Texts without
// placeholders are cached, because i18next checks plurals, contexts and nesting in every lookup. A missing
// text is not cached, because the catalogue of its page may be loaded later.
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
