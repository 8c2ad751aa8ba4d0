// A schedule in words. Words only: when a job fires is what the server computes.
import cronstrue from 'cronstrue';

let chinese = false;

// Chinese words are fetched when they are first needed.
export async function loadWords(language: string): Promise<void> {
  if (language !== 'zh-CN' || chinese) return;
  await import('cronstrue/locales/zh_CN.js');
  chinese = true;
}

export function describeCron(expression: string, language: string): string {
  // The server reads what follows a # as a comment; cronstrue as "the n-th weekday".
  if (expression.includes('#')) return '';
  try {
    return cronstrue.toString(expression, {
      use24HourTimeFormat: true,
      locale: language === 'zh-CN' && chinese ? 'zh_CN' : 'en',
    });
  } catch {
    return '';
  }
}
