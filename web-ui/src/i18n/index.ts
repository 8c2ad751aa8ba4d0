// Texts by key: one flat catalogue per language. English is the reference; Chinese is fetched when it is chosen.
// English is split, so that the first page does not wait for the texts of all pages (./more, ./seldom).
import i18next from 'i18next';
import { onPreferences, preferences } from '../lib/preferences';
import { en } from './en';

let english: Record<string, string> = en;

// Pages may be loaded before or after startTexts().
export function addEnglish(texts: Record<string, string>): void {
  english = { ...english, ...texts };
  if (i18next.isInitialized) addTexts('en', texts);
}

export const addTexts = (language: string, texts: Record<string, string>): void => {
  i18next.addResourceBundle(language, 'translation', texts, true, true);
};

async function show(language: string): Promise<void> {
  if (language === 'zh-CN' && !i18next.hasResourceBundle(language, 'translation')) {
    const [{ zhCN }, { zhCNMore }, { zhCNSeldom }, { zhCNOutages }, { zhCNProblems }] = await Promise.all([
      import('./zh_cn'),
      import('./more/zh_cn'),
      import('./seldom/zh_cn'),
      import('./outages/zh_cn'),
      import('./problems/zh_cn'),
    ]);
    addTexts(language, { ...zhCN, ...zhCNMore, ...zhCNSeldom, ...zhCNOutages, ...zhCNProblems });
  }
  if (language !== preferences().language) return; // another language was chosen while these texts were loading
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  shown = language;
}

let shown = '';
// If the texts cannot be loaded, the language does not change; the next choice tries again.
const turn = async () => {
  const { language } = preferences();
  if (language !== shown) await show(language).catch(() => {});
};

export async function startTexts(): Promise<void> {
  await i18next.init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: english } },
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false }, // React does
    saveMissing: true,
    missingKeyHandler: (_languages, _namespace, key) => console.error('missing text: ' + key),
  });
  // Before the first turn: a user who signs in meanwhile may have chosen another language.
  onPreferences(() => void turn());
  await turn();
}
