// Tab with the versions of a job: authors, times, comparison of two versions, and revert.
import '../../audit/texts.en';
import './texts.en';
import '../../code/texts.en';
import '../form/texts.en';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Undo2 } from 'lucide-react';
import { useState } from 'react';
import { call, get } from '../../../api/client';
import { itemsOf, useVersions } from '../../../api/queries';
import type { FieldChange, Job, JobVersion } from '../../../api/types';
import { useDenied } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { FormDialog } from '../../../ui/dialogs/form_dialog';
import { Time } from '../../../ui/time';
import { toast } from '../../../ui/toasts';
import { Card, LoadFailure, Loading, MoreButton, TableFrame } from '../../../ui/ui';
import { Field } from '../../../ui/field';
import { LineDiffTable, NodeChangeList } from '../../code/line_diff_table';
import { textOfValue } from '../../code/line_diff';
import { jobPath } from '../actions/job_actions';
import { zoneOf } from '../../schedule/schedule_text';
import { readable } from '../form/form_values';
import { picked } from './version_text';
import { valueText } from '../../../lib/value_text';

const route = getRouteApi('/jobs/$id');
const REASON_MAX = 1000;
const FIELDS_NAMED = 3;

export default function VersionsTab({ job }: { job: Job }) {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const versions = useVersions(job.job_id);
  const items = itemsOf(versions.data);
  const [reverting, setReverting] = useState<JobVersion | null>(null);
  const chosen = [search.version, search.against].filter((one) => one !== undefined).map(Number);
  const onPick = (version: number) => {
    const [newer, older] = picked(chosen, version);
    void navigate({ search: (before) => ({ ...before, version: newer, against: older }), replace: true });
  };
  if (versions.isPending) return <Loading />;
  if (versions.isError && items.length === 0)
    return <LoadFailure error={versions.error} onRetry={() => void versions.refetch()} />;
  return (
    <div className="grid gap-4">
      {chosen.length === 2 ? (
        <Comparison job={job} version={Math.max(...chosen)} against={Math.min(...chosen)} />
      ) : (
        <p className="text-muted">{t('versions.pick')}</p>
      )}
      <div className="card overflow-hidden">
        <VersionTable job={job} versions={items} chosen={chosen} onPick={onPick} onRevert={setReverting} />
        <MoreButton query={versions} />
      </div>
      {reverting && <RevertDialog job={job} version={reverting} onClose={() => setReverting(null)} />}
    </div>
  );
}

function VersionTable(props: {
  job: Job;
  versions: JobVersion[];
  chosen: number[];
  onPick: (version: number) => void;
  onRevert: (version: JobVersion) => void;
}) {
  const { t } = useTranslation();
  const denied = useDenied()(props.job, 'revert');
  return (
    <TableFrame label={t('jobs.tab_versions')}>
      <table className="table cards">
        <thead>
          <tr>
            <th scope="col">{t('versions.compare')}</th>
            <th scope="col">{t('jobs.version')}</th>
            <th scope="col">{t('audit.time')}</th>
            <th scope="col">{t('audit.actor')}</th>
            <th scope="col">{t('versions.changes')}</th>
            <th scope="col">
              <span className="sr-only">{t('actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.versions.map((one) => (
            <tr key={one.version} data-row={'v' + one.version}>
              <td>
                <input
                  type="checkbox"
                  className="size-6"
                  aria-label={t('versions.compare_named', { version: one.version })}
                  checked={props.chosen.includes(one.version)}
                  onChange={() => props.onPick(one.version)}
                />
              </td>
              <td className="font-medium">
                v{one.version}
                {one.version === props.job.version && (
                  <span className="ml-2 text-xs text-muted">{t('versions.now')}</span>
                )}
              </td>
              <td>
                <Time at={one.create_time} zone={zoneOf(props.job)} />
              </td>
              <td>{one.actor}</td>
              <td className="min-w-40">
                <Summary version={one} />
              </td>
              <td data-column="actions" className="text-right">
                {one.version !== props.job.version && (
                  <button
                    type="button"
                    className="button"
                    disabled={Boolean(denied) || !one.readable}
                    title={denied && t(denied)}
                    aria-label={t('versions.revert_named', { version: one.version })}
                    onClick={() => props.onRevert(one)}
                  >
                    <Undo2 aria-hidden size={15} />
                    {t('versions.revert')}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

function Summary({ version }: { version: JobVersion }) {
  const { t } = useTranslation();
  if (!version.readable) return <span className="text-warn">{t('versions.unreadable')}</span>;
  if (version.version === 1) return <span className="text-muted">{t('versions.first')}</span>;
  if (version.changes === null) return <span className="text-muted">{t('versions.not_kept')}</span>;
  return (
    <ul>
      {version.changes.slice(0, FIELDS_NAMED).map((change) => (
        <li key={change.field} className="break-words">
          <span className="mono">{change.field}</span> <ChangeText change={change} />
        </li>
      ))}
      {version.changes.length > FIELDS_NAMED && (
        <li className="text-muted">{t('schedule.more', { n: version.changes.length - FIELDS_NAMED })}</li>
      )}
      {version.changes.length === 0 && <li className="text-muted">{t('versions.same')}</li>}
    </ul>
  );
}

// A long value is not said in a row of the list; of a workflow, the nodes are named.
function ChangeText({ change }: { change: FieldChange }) {
  const { t } = useTranslation();
  const { field, before, after } = change;
  if (field === 'workflow') return <NodeChangeList before={before} after={after} />;
  if (textOfValue(before) !== null || textOfValue(after) !== null)
    return <span className="text-muted">{t('diff.changed')}</span>;
  return (
    <span className="mono text-muted">
      {valueText(before)} → {valueText(after)}
    </span>
  );
}

function Comparison({ job, version, against }: { job: Job; version: number; against: number }) {
  const { t } = useTranslation();
  const compared = useQuery({
    queryKey: ['jobs', job.job_id, 'versions', version, against],
    queryFn: ({ signal }) =>
      get<JobVersion>(`${jobPath(job.job_id)}/versions/${version}`, { against }, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t('versions.between', { from: against, to: version })} flush>
      {compared.isPending ? (
        <Loading />
      ) : !compared.data ? (
        <LoadFailure error={compared.error} onRetry={() => void compared.refetch()} />
      ) : compared.data.changes === null ? (
        <p className="p-4 text-warn">{t('versions.unreadable')}</p>
      ) : compared.data.changes.length === 0 ? (
        <p className="p-4 text-muted">{t('versions.same')}</p>
      ) : (
        <Changes changes={compared.data.changes} from={against} to={version} />
      )}
    </Card>
  );
}

// Fields with short values are rows of a table. Long values, such as scripts and workflows, are compared by line.
function Changes(props: { changes: FieldChange[]; from: number; to: number }) {
  const { t } = useTranslation();
  const texts = props.changes.map(({ before, after }) =>
    [before, after].map((value) => textOfValue(readable(value))),
  );
  const isLong = (i: number) => texts[i]!.some((text) => text !== null);
  const short = props.changes.filter((_, i) => !isLong(i));
  return (
    <>
      {short.length > 0 && <ChangeTable {...props} changes={short} />}
      {props.changes.map(
        (change, i) =>
          isLong(i) && (
            <section key={change.field} className="border-t first:border-t-0">
              <h3 className="mono px-3 py-2 font-medium">{change.field}</h3>
              {change.field === 'workflow' && (
                <div className="px-3 pb-2">
                  <NodeChangeList before={change.before} after={change.after} />
                </div>
              )}
              <LineDiffTable
                label={t('diff.lines_of', { field: change.field, from: props.from, to: props.to })}
                before={texts[i]?.[0] ?? plainText(change.before)}
                after={texts[i]?.[1] ?? plainText(change.after)}
              />
            </section>
          ),
      )}
    </>
  );
}

const plainText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function ChangeTable(props: { changes: FieldChange[]; from: number; to: number }) {
  const { t } = useTranslation();
  return (
    <TableFrame label={t('versions.between', { from: props.from, to: props.to })}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t('conflict.field')}</th>
            <th scope="col">v{props.from}</th>
            <th scope="col">v{props.to}</th>
          </tr>
        </thead>
        <tbody>
          {props.changes.map((change) => (
            <tr key={change.field}>
              <th scope="row" className="mono align-top">
                {change.field}
              </th>
              <td className="mono bg-bad-soft break-all whitespace-pre-wrap align-top">
                {valueText(change.before)}
              </td>
              <td className="mono bg-ok-soft break-all whitespace-pre-wrap align-top">
                {valueText(change.after)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

function RevertDialog({ job, version, onClose }: { job: Job; version: JobVersion; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  return (
    <FormDialog
      title={t('versions.revert_title', { name: job.name, version: version.version })}
      save={t('versions.revert')}
      pointers={[]}
      onClose={onClose}
      onSave={async () => {
        const { data } = await call<Job>('POST', jobPath(job.job_id) + '/revert', {
          body: { version: version.version, ...(reason.trim() ? { reason: reason.trim() } : {}) },
          ifMatch: `"v${job.version}"`,
        });
        await client.invalidateQueries({ queryKey: ['jobs'] });
        toast(t('versions.reverted', { name: data.name, version: data.version }));
        onClose();
      }}
    >
      {() => (
        <>
          <p className="text-muted">{t('versions.revert_explain', { version: job.version + 1 })}</p>
          <Field label={t('reason.label')}>
            <input
              className="input"
              maxLength={REASON_MAX}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </Field>
        </>
      )}
    </FormDialog>
  );
}
