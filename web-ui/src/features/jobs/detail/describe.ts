// Describes a schedule in words. The times of its fires are not computed here: only the server does this.
import cronstrue from 'cronstrue';
import { useEffect, useState } from 'react';

let chinese = false;

// The Chinese words are loaded when they are first needed.
async function loadWords(language: string): Promise<void> {
  if (language !== 'zh-CN' || chinese) return;
  await import('cronstrue/locales/zh_CN.js');
  chinese = true;
}

// Renders the component again when the words of the language have been loaded.
export function useWords(language: string): void {
  const [, setLoaded] = useState(false);
  useEffect(() => {
    void loadWords(language).then(() => setLoaded(true));
  }, [language]);
}

export function describeCron(expression: string, language: string): string {
  try {
    return cronstrue.toString(expression, {
      use24HourTimeFormat: true,
      locale: language === 'zh-CN' && chinese ? 'zh_CN' : 'en',
    });
  } catch {
    return '';
  }
}
