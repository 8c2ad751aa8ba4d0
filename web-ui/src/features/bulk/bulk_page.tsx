// Page of one bulk action: its progress, the result of each item, and a button that cancels the action.
import '../runs/list/texts.en';
import '../audit/texts.en';
import './texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Ban } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/client';
import type { BulkAction } from '../../api/types';
import { useDenied } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { FormDialog } from '../../ui/dialogs/form_dialog';
import { StateBadge } from '../../ui/state_badge';
import { Time } from '../../ui/time';
import { toast } from '../../ui/toasts';
import { Card, Facts, LoadFailure, Loading, PageHeader } from '../../ui/ui';
import { BulkItems } from './bulk_items';
import { leftOf, useBulkTitle, useProgressText } from './bulk_text';
import { Progress } from './progress';
import { bulkPath, useBulk } from './bulk_queries';

const route = getRouteApi('/bulk/$id');

export function BulkPage() {
  const { id } = route.useParams();
  const bulk = useBulk(id);
  if (bulk.isPending) return <Loading />;
  if (!bulk.data) return <LoadFailure error={bulk.error} onRetry={() => void bulk.refetch()} />;
  return <Known bulk={bulk.data} />;
}

function Known({ bulk }: { bulk: BulkAction }) {
  const { t } = useTranslation();
  const title = useBulkTitle()(bulk);
  const ended = useProgressText()(bulk);
  return (
    <>
      <PageHeader
        documentTitle={title}
        title={
          <>
            <span>{title}</span>
            <StateBadge state={bulk.state} />
          </>
        }
        under={
          <>
            <Link to="/bulk" className="link inline-flex min-h-6 items-center">
              {t('bulk.title')}
            </Link>
            {' · '}
            <span className="mono">{bulk.bulk_id}</span>
          </>
        }
        actions={<Cancel bulk={bulk} />}
      />
      {bulk.error && (
        <p role="alert" className="mb-4 rounded-md bg-bad-soft px-4 py-2.5 text-bad">
          {t('bulk.halted')} <span lang="en">{bulk.error}</span>
        </p>
      )}
      <div className="grid gap-4">
        <Card title={t('bulk.progress')}>
          <Progress bulk={bulk} />
          {/* Screen readers announce the end, but not the changing numbers. */}
          <p role="status" className="sr-only">
            {bulk.state !== 'RUNNING' && ended}
          </p>
          <div className="mt-4">
            <Facts
              items={[
                [t('audit.actor'), bulk.actor],
                ...(bulk.reason ? [[t('bulk.reason'), bulk.reason] as const] : []),
                ...(bulk.confirm_overlap ? [[t('bulk.overlap'), t('yes')] as const] : []),
                ...(bulk.mode === 'kill' ? [[t('bulk.kills'), t('yes')] as const] : []),
                [t('bulk.begun'), <Time key="b" at={bulk.create_time} />],
                [t('step.ended'), <Time key="e" at={bulk.end_time} />],
              ]}
            />
          </div>
        </Card>
        <BulkItems bulk={bulk} />
      </div>
    </>
  );
}

function Cancel({ bulk }: { bulk: BulkAction }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const denied = useDenied()(bulk, 'cancel');
  const [asking, setAsking] = useState(false);
  if (bulk.state !== 'RUNNING') return null;
  return (
    <>
      <button
        type="button"
        className="button button-danger"
        disabled={Boolean(denied)}
        title={denied && t(denied)}
        onClick={() => setAsking(true)}
      >
        <Ban aria-hidden size={15} />
        {t('bulk.call_off')}
      </button>
      {asking && (
        <FormDialog
          title={t('bulk.call_off_title')}
          save={t('bulk.call_off')}
          danger
          pointers={[]}
          onClose={() => setAsking(false)}
          onSave={async () => {
            const { data } = await call<BulkAction>('POST', bulkPath(bulk.bulk_id) + '/cancel', { body: {} });
            client.setQueryData([bulkPath(bulk.bulk_id)], data);
            await client.invalidateQueries({ queryKey: [bulkPath(bulk.bulk_id) + '/items'] });
            if (data.state === 'DONE') toast(t('bulk.ended_before'));
            setAsking(false);
          }}
        >
          {() => <p className="text-muted">{t('bulk.call_off_explain', { n: leftOf(bulk) })}</p>}
        </FormDialog>
      )}
    </>
  );
}
