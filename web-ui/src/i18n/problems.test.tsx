import { render, screen } from '@testing-library/react';
import i18next from 'i18next';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError, call } from '../api/client';
import { setPreferences } from '../lib/preferences';
import { LoadFailure, explain } from '../ui/ui';
import { at, http, problem, server } from '../../test_support/server';

const speak = (language: 'en' | 'zh-CN') => {
  const spoken = new Promise<void>((resolve) => {
    if (i18next.language === language) resolve();
    else i18next.on('languageChanged', () => resolve());
  });
  setPreferences({ language });
  return spoken;
};
const t = (key: string) => i18next.t(key);
const refused = async (answer: Response) => {
  server.use(http.get(at('jobs'), () => answer.clone()));
  return (await call('GET', 'jobs').catch((error: unknown) => error)) as ApiError;
};

describe('a problem in English', () => {
  it('a problem in English is the server’s sentence', async () => {
    const error = await refused(problem(403, 'forbidden', 'jobs:write is missing.'));
    expect(explain(error, t)).toBe('jobs:write is missing.');
  });
  it('a problem in English without a text is the sentence of its code', async () => {
    expect(explain(await refused(problem(403, 'forbidden', '')), t)).toBe('Your role does not permit this.');
  });
  it('a problem in English without a text and with an unknown code is unspecific', async () => {
    expect(explain(await refused(problem(418, 'teapot', '')), t)).toBe(
      'Unknown error. Search the server log.',
    );
  });
});

describe('a problem in Chinese', () => {
  beforeEach(() => speak('zh-CN'));
  afterEach(() => speak('en'));

  it('a problem in Chinese is the sentence of its code with the server’s facts', async () => {
    const error = await refused(problem(403, 'forbidden', 'jobs:write is missing.'));
    expect(explain(error, t)).toBe('您的角色无权执行此操作。（jobs:write is missing.）');
  });
  it('a problem in Chinese marks the server’s words as English', async () => {
    render(<LoadFailure error={await refused(problem(404, 'not_found', 'There is no job x.'))} />);
    expect(screen.getByText('There is no job x.').getAttribute('lang')).toBe('en');
    expect(screen.getByText('可能已被删除，或链接有误。')).toBeTruthy();
  });
  it('a field’s problem in Chinese is the sentence of its code', async () => {
    const errors = [{ pointer: '/name', code: 'too_long', detail: 'at most 200 characters' }];
    expect((await refused(problem(400, 'invalid', '', { errors }))).errors[0]!.detail).toBe(
      '过长。（at most 200 characters）',
    );
  });
  it('a problem of an unknown code is shown as it came', async () => {
    expect(explain(await refused(problem(418, 'teapot', 'I am one.')), t)).toBe('I am one.');
  });
});
