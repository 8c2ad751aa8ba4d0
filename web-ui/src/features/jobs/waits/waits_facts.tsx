// The jobs for which the runs of a job wait on its page, as rows of a list of facts.
import './texts.en';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useJobName } from '../../../api/dependencies';
import type { Job, UpstreamWait } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { waitText } from './waits_text';

export function waitsFacts(job: Job, t: TFunction, language: string): (readonly [string, ReactNode])[] {
  const waits = job.waits_for ?? [];
  if (waits.length === 0) return [];
  return [
    [
      t('waits.title'),
      <ul key="w" className="grid gap-1">
        {waits.map((wait) => (
          <Wait key={JSON.stringify(wait)} wait={wait} />
        ))}
      </ul>,
    ],
    [t('waits.limit'), span((job.wait_limit_s ?? 0) * 1000, language)],
  ];
}

function Wait({ wait }: { wait: UpstreamWait }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <li className="wrap-anywhere">
      <JobLink id={wait.job} />
      {wait.in && (
        <>
          {' '}
          {t('waits.as_node')} <JobLink id={wait.in} />
        </>
      )}
      <span className="block text-muted">{waitText(wait, t, language)}</span>
    </li>
  );
}

function JobLink({ id }: { id: string }) {
  const name = useJobName(id);
  return (
    <Link to="/jobs/$id" params={{ id }} className="link inline-flex min-h-6 items-center">
      {name}
    </Link>
  );
}
