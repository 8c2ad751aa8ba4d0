// Page that creates or edits a job, as a form or as YAML.
import './texts.en';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { call } from '../../../api/client';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { LoadFailure, Loading, PageHeader } from '../../../ui/ui';
import { definitionOf } from './form_values';
import { JobEditor } from './job_editor';
import { jobPath } from '../actions/job_actions';

const newRoute = getRouteApi('/jobs/new');
const editRoute = getRouteApi('/jobs/$id/edit');

// The job is read once, so that it does not change while it is being edited.
function useStart(id: string | undefined) {
  return useQuery({
    queryKey: ['edit', id],
    queryFn: ({ signal }) => call<Job>('GET', jobPath(id ?? ''), { signal }),
    enabled: id !== undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
}

export function NewJobPage() {
  const { t } = useTranslation();
  const { from } = newRoute.useSearch();
  const start = useStart(from);
  const title = t('jobs.new');
  return (
    <>
      <PageHeader title={title} documentTitle={title} />
      {from && start.isPending ? (
        <Loading />
      ) : from && start.isError ? (
        <LoadFailure error={start.error} onRetry={() => void start.refetch()} />
      ) : (
        <JobEditor
          key={from ?? ''}
          start={start.data ? copyOf(start.data.data, t('jobs.copy_of', { name: start.data.data.name })) : {}}
        />
      )}
    </>
  );
}

function copyOf(job: Job, name: string) {
  const { job_id: _id, user_id: _user, ...rest } = definitionOf(job);
  return { ...rest, name: name.slice(0, 200) };
}

export function EditJobPage() {
  const { t } = useTranslation();
  const { id } = editRoute.useParams();
  const start = useStart(id);
  const title = t('jobs.edit_named', { name: start.data?.data.name ?? id });
  return (
    <>
      <PageHeader title={title} documentTitle={title} />
      {start.isPending ? (
        <Loading />
      ) : start.isError ? (
        <LoadFailure error={start.error} onRetry={() => void start.refetch()} />
      ) : (
        <JobEditor key={id} start={definitionOf(start.data.data)} job={start.data.data} />
      )}
    </>
  );
}
