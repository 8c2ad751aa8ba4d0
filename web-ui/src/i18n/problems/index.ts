// Texts for problems in the chosen language. The server describes a problem in English, with details such as
// names. The catalogues cannot contain these details. So in other languages a translated sentence for the
// code comes before the server's text.
import i18next from 'i18next';
import { addTexts } from '../index';

let fetched: Promise<void> | undefined;

// English sentences are needed only for problems without a text of the server. So they are loaded when the
// first problem occurs. If loading fails, no sentence is shown, and the next problem tries again.
export const fetchProblems = (): Promise<void> =>
  (fetched ??= import('./en').then(
    ({ enProblems }) => addTexts('en', enProblems),
    () => {
      fetched = undefined;
    },
  ));

export interface ProblemParts {
  said: string;
  detail: string;
}

// `kind`: "problem" is about a whole response, "field" about one field of the request.
export function partsOf(kind: 'problem' | 'field', code: string, detail: string): ProblemParts {
  if (i18next.language === 'en' && detail !== '') return { said: '', detail };
  const key = `${kind}.${code}`;
  return { said: i18next.exists(key) ? i18next.t(key) : '', detail };
}

export function problemText(kind: 'problem' | 'field', code: string, detail: string): string {
  const parts = partsOf(kind, code, detail);
  return parts.said && parts.detail ? i18next.t('error.detailed', { ...parts }) : parts.said || parts.detail;
}
