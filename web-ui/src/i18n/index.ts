// Texts by key. Each language has one flat catalogue, split into one file per feature. The English file of a
// feature defines the keys and is loaded with the feature. The other language is loaded as a whole when it is
// first used.
import i18next from 'i18next';
import { onPreferences, preferences } from '../lib/preferences';
import { en } from './texts.en';

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
    const { zhCN } = await import('./zh_cn');
    addTexts(language, zhCN);
  }
  if (language !== preferences().language) return; // another language was chosen while these texts were loading
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  shown = language;
}

let shown = '';
// If the texts cannot be loaded, the language does not change. The next choice of a language tries again.
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
    interpolation: { escapeValue: false }, // React escapes values
    saveMissing: true,
    missingKeyHandler: (_languages, _namespace, key) => console.error('missing text: ' + key),
  });
  // Subscribes before the language is set, because a user who signs in meanwhile may bring another language.
  onPreferences(() => void turn());
  await turn();
}
