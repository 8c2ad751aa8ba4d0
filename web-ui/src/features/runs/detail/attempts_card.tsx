// Card of a run's attempts. A click on an attempt shows the output of this attempt.
import '../list/texts.en';
import './texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import type { Attempt, Run } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { StateBadge } from '../../../ui/state_badge';
import { Time } from '../../../ui/time';
import { Card, TableFrame } from '../../../ui/ui';
import { ExecutorLink } from '../../lists/runs/executor_link';
import { attemptsOf } from './attempts_of';
import { attemptToShow } from './run_text';
import { duration } from '../../lists/runs/duration';

const route = getRouteApi('/runs/$id');

export default function Attempts({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const textOr = useTextOr();
  const { attempt: chosen } = route.useSearch();
  const shown = chosen ? Number(chosen) : attemptToShow(run);
  return (
    <Card title={t('run.attempts')} flush>
      <TableFrame label={t('run.attempts')}>
        <table className="table cards">
          <thead>
            <tr>
              <th scope="col">{t('run.attempt')}</th>
              <th scope="col">{t('runs.state')}</th>
              <th scope="col">{t('step.started')}</th>
              <th scope="col">{t('runs.duration')}</th>
              <th scope="col">{t('runs.executor')}</th>
              <th scope="col">{t('runs.why')}</th>
            </tr>
          </thead>
          <tbody>
            {attemptsOf(run).map((one: Attempt) => (
              <tr key={one.attempt}>
                <td>
                  <Link
                    to="/runs/$id"
                    params={{ id: run.run_id }}
                    search={{ attempt: String(one.attempt) }}
                    replace
                    className="link whitespace-nowrap"
                    aria-current={one.attempt === shown ? 'true' : undefined}
                  >
                    {t('runs.attempt_n', { n: one.attempt })}
                  </Link>
                </td>
                <td>
                  <StateBadge state={one.state} />
                </td>
                <td>
                  <Time at={one.started_at ?? one.claimed_at} absolute />
                </td>
                <td className="tabular-nums">{one.ended_at ? span(duration(one, 0) ?? 0, language) : '–'}</td>
                <td>
                  <ExecutorLink id={one.executor_id} />
                </td>
                <td className="whitespace-nowrap text-muted">{textOr('reason.', one.reason)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Card>
  );
}
