// Of a node or a shard: the run that it is a part of.
import '../../shards/texts.en';
import '../../workflows/texts.en';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../../api/client';
import type { Run } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { runPath } from './run_path';

export default function PartOf({ run }: { run: Run }) {
  const { t } = useTranslation();
  const id = run.workflow_run_id ?? run.fan_out_run_id ?? '';
  const whole = useQuery({
    queryKey: ['runs', id],
    queryFn: ({ signal }) => get<Run>(runPath(id), {}, signal),
    enabled: Boolean(run.workflow_run_id),
  });
  const name = whole.data?.job_name || whole.data?.job_id || id;
  return (
    <>
      <Link
        to="/runs/$id"
        params={{ id }}
        className="link inline-flex min-h-6 items-center font-medium wrap-anywhere"
      >
        {run.workflow_run_id
          ? t('nodes.node_of', { node: run.node, name })
          : t('shards.part_of', { index: run.shard_index, total: run.shard_total })}
      </Link>
      {' · '}
    </>
  );
}
