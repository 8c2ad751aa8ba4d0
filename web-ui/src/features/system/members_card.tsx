// Card of the members: which one leads, and the segments, clock and version of each.
import './texts.en';
import { Crown, TriangleAlert } from 'lucide-react';
import type { Member, SystemStatus } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { Card, TableFrame } from '../../ui/ui';
import { metricsOf, skewOf } from './member_values';

// Shows a link to the metrics of a member if this browser can reach them. Otherwise shows their address
// as text.
function MetricsOf({ member }: { member: Member }) {
  const { t } = useTranslation();
  if (!member.ops_url) return <>–</>;
  const at = metricsOf(member.ops_url, window.location.hostname);
  if (!at)
    return (
      <span className="mono text-muted" title={t('members.metrics_own')}>
        {member.ops_url}/metrics
      </span>
    );
  return (
    <a
      className="link"
      href={at}
      target="_blank"
      rel="noreferrer"
      aria-label={t('members.metrics_of', { id: member.id })}
    >
      {t('members.metrics')}
    </a>
  );
}

export function MembersCard({ status }: { status: SystemStatus }) {
  const { t } = useTranslation();
  const skew = skewOf(status.members);
  return (
    <Card title={t('system.members')} flush>
      <TableFrame label={t('system.members')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t('system.member')}</th>
              <th scope="col">{t('members.version')}</th>
              <th scope="col">{t('system.owned')}</th>
              <th scope="col">{t('system.offset')}</th>
              <th scope="col">{t('members.metrics')}</th>
            </tr>
          </thead>
          <tbody>
            {status.members.map((member) => (
              <tr key={member.id}>
                <td>
                  <span className="flex items-center gap-2 font-medium">
                    {member.id}
                    {member.id === status.leader && (
                      <span className="inline-flex items-center gap-1 rounded-full bg-accent-soft px-2 py-0.5 text-xs text-accent">
                        <Crown aria-hidden size={13} />
                        {t('system.leader')}
                      </span>
                    )}
                  </span>
                  <span className="mono text-muted">{member.address}</span>
                </td>
                <td className="tabular-nums">{member.version ?? '–'}</td>
                <td className="tabular-nums">{member.owned_segments ?? '–'}</td>
                <td className="tabular-nums">
                  {member.clock_offset_ms === null ? '–' : `${member.clock_offset_ms.toFixed(1)} ms`}
                </td>
                <td>
                  <MetricsOf member={member} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
      {skew && (
        <p
          role="status"
          className="flex items-center gap-2 border-t bg-warn-soft p-4 text-warn wrap-anywhere"
        >
          <TriangleAlert aria-hidden size={16} className="shrink-0" />
          {t('members.skew', { versions: skew })}
        </p>
      )}
      {status.leader === null && <p className="p-4 text-warn">{t('system.no_leader')}</p>}
    </Card>
  );
}
