// Problems in the language that is on. The server says them in English, with facts that no catalogue has: another
// language puts its own sentence for the code before that.
import i18next from 'i18next';
import { addTexts } from '../index';

let fetched: Promise<void> | undefined;

// English sentences are needed where the server said none, so they come with the first problem. Where they do not
// come either, the code is all there is.
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

// `kind`: of a whole answer, or of one of its fields.
export function partsOf(kind: 'problem' | 'field', code: string, detail: string): Said {
  if (i18next.language === 'en' && detail !== '') return { said: '', detail };
  const key = `${kind}.${code}`;
  return { said: i18next.exists(key) ? i18next.t(key) : '', detail };
}

export function problemText(kind: 'problem' | 'field', code: string, detail: string): string {
  const parts = partsOf(kind, code, detail);
  return parts.said && parts.detail ? i18next.t('error.detailed', { ...parts }) : parts.said || parts.detail;
}
