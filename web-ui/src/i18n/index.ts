// Texts by key: a flat catalogue a language. English is the measure, the other one is fetched when used.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { onPreferences, preferences } from '../shared/preferences';
import { en } from './en';

export type Catalogue = Record<keyof typeof en, string>;

async function show(language: string): Promise<void> {
  if (language === 'zh-CN' && !i18next.hasResourceBundle(language, 'translation')) {
    const { zhCN } = await import('./zh_cn');
    i18next.addResourceBundle(language, 'translation', zhCN);
  }
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}

export async function startTexts(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: en } },
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false }, // React does
    react: { useSuspense: false },
    saveMissing: true,
    missingKeyHandler: (_languages, _namespace, key) => console.error('missing text: ' + key),
  });
  await show(preferences().language);
  let before = preferences().language;
  onPreferences(() => {
    const { language } = preferences();
    if (language === before) return;
    before = language;
    void show(language);
  });
}
