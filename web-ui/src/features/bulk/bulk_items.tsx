// Results of a bulk action's items, grouped by outcome.
import './texts.en';
import { Link, getRouteApi } from '@tanstack/react-router';
import { itemsOf } from '../../api/queries';
import { BULK_RESULTS, type BulkAction, type BulkItem, type BulkResult } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { DataTable, type Column } from '../../ui/data_table';
import { count } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { StateBadge } from '../../ui/state_badge';
import { ListRows } from '../../ui/list_card';
import { Card, Problem, Segments } from '../../ui/ui';
import { leftOf } from './bulk_text';
import { ItemName } from './item_name';
import { useBulkItems } from './bulk_queries';

const route = getRouteApi('/bulk/$id');
const STATES: Record<string, string> = {
  pending: 'PENDING',
  done: 'DONE',
  error: 'FAILED',
  skipped: 'SKIPPED',
};

export function BulkItems({ bulk }: { bulk: BulkAction }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const { result } = route.useSearch();
  const navigate = route.useNavigate();
  const read = useBulkItems(bulk.bulk_id, { result });
  const items = itemsOf(read.data);
  const amounts: Record<BulkResult, number> = {
    pending: leftOf(bulk),
    done: bulk.done,
    error: bulk.failed,
    skipped: bulk.skipped,
  };
  const choose = (next: string) =>
    void navigate({ search: { result: (next || undefined) as BulkResult | undefined }, replace: true });
  return (
    <Card
      title={t('bulk.items')}
      flush
      actions={
        <Segments
          label={t('bulk.result_label')}
          value={result ?? ''}
          onChange={choose}
          choices={[
            { value: '', label: t('all') },
            ...BULK_RESULTS.map((one) => ({
              value: one,
              label: `${t(`bulk.result_${one}`)} (${count(amounts[one], language)})`,
            })),
          ]}
        />
      }
    >
      <ListRows query={read} match={() => choose('')}>
        {items.length > 0 && <ItemsTable kind={bulk.kind} items={items} />}
      </ListRows>
    </Card>
  );
}

function ItemsTable({ kind, items }: { kind: string; items: BulkItem[] }) {
  const { t } = useTranslation();
  const columns: Column<BulkItem>[] = [
    {
      id: 'name',
      header: kind === 'job' ? t('jobs.name') : t('bulk.run_of'),
      cell: (item) => (
        <div className="min-w-32">
          <ItemName kind={kind} id={item.id} />
        </div>
      ),
    },
    {
      id: 'result',
      header: t('bulk.result_label'),
      cell: (item) => <StateBadge state={STATES[item.result] ?? item.result} />,
    },
    {
      id: 'why',
      header: t('runs.why'),
      cell: (item) =>
        item.error && (
          <span className="text-muted wrap-anywhere">
            <Problem {...item.error} />
          </span>
        ),
    },
    {
      id: 'run',
      header: <span className="sr-only">{t('nav.runs')}</span>,
      cell: (item) =>
        kind === 'job' &&
        item.run_id && (
          <Link
            to="/runs/$id"
            params={{ id: item.run_id }}
            className="link inline-flex min-h-6 items-center whitespace-nowrap"
          >
            {t('bulk.its_run')}
          </Link>
        ),
    },
  ];
  return (
    <DataTable
      label={t('bulk.items')}
      columns={columns}
      rows={items}
      rowId={(item) => String(item.position)}
    />
  );
}
