// Problems in the chosen language. The server describes them in English, with details that no catalogue has; other
// languages put their own sentence for the code before that text.
import i18next from 'i18next';
import { addTexts } from '../index';

let fetched: Promise<void> | undefined;

// English sentences are needed where the server sent none, so they are loaded with the first problem. If that fails,
// only the code is shown.
export const fetchProblems = (): Promise<void> =>
  (fetched ??= import('./en').then(
    ({ enProblems }) => addTexts('en', enProblems),
    () => {
      fetched = undefined;
    },
  ));

export interface Said {
  said: string;
  detail: string;
}

// `kind`: problem (of a whole response) or field (of one of its fields).
export function partsOf(kind: 'problem' | 'field', code: string, detail: string): Said {
  if (i18next.language === 'en' && detail !== '') return { said: '', detail };
  const key = `${kind}.${code}`;
  return { said: i18next.exists(key) ? i18next.t(key) : '', detail };
}

export function problemText(kind: 'problem' | 'field', code: string, detail: string): string {
  const parts = partsOf(kind, code, detail);
  return parts.said && parts.detail ? i18next.t('error.detailed', { ...parts }) : parts.said || parts.detail;
}
