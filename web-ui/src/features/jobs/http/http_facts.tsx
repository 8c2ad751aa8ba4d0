// The request of a job on its page, as rows of a list of facts.
import '../form/texts.en';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import type { Job } from '../../../api/types';
import { httpValuesOf } from './http_values';

const Code = ({ text }: { text: string }) => (
  <pre className="mono overflow-x-auto rounded bg-code p-3 whitespace-pre-wrap">{text}</pre>
);

export function httpFacts(http: NonNullable<Job['http']>, t: TFunction): (readonly [string, ReactNode])[] {
  const shown = httpValuesOf(http);
  const texts: [string, string | undefined][] = [
    [t('form.http_headers'), shown.http_headers],
    [t('form.http_body'), shown.http_body],
    [t('form.http_contains'), shown.http_contains],
    [t('form.http_regex'), shown.http_regex],
    [t('form.http_json'), shown.http_json],
  ];
  const request = `${shown.http_method} ${shown.http_url}`;
  return [
    [t('form.http_url'), <Code key="u" text={request} />],
    [t('form.http_status'), shown.http_status],
    ...texts
      .filter(([, text]) => text !== undefined && text !== '')
      .map(([label, text]) => [label, <Code key={label} text={text ?? ''} />] as const),
    [t('form.http_follow'), shown.http_follow],
    ...(shown.http_client_certificate
      ? [[t('form.http_client_certificate'), <Code key="c" text={shown.http_client_certificate} />] as const]
      : []),
    ...(http.poll
      ? [[t('form.http_poll'), <Code key="p" text={JSON.stringify(http.poll, null, 2)} />] as const]
      : []),
    ...(shown.http_tls_verify ? [] : [[t('form.http_tls_verify'), t('no')] as const]),
  ];
}
