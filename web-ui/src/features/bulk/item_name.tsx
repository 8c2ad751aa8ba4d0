// Name of an item. If the caller does not know the name, it is requested from the server. The name of a dead
// letter is not requested.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../api/client';
import type { Job, Run } from '../../api/types';
import { nameOfRun } from './run_name';

export function ItemName({ kind, id, name }: { kind: string; id: string; name?: string }) {
  const read = useQuery({
    queryKey: ['name', kind, id], // the key names no topic, so that a change does not reload every name
    queryFn: async ({ signal }) =>
      kind === 'job'
        ? (await get<Job>('jobs/' + encodeURIComponent(id), {}, signal)).name
        : nameOfRun(await get<Run>('runs/' + encodeURIComponent(id), {}, signal)),
    enabled: name === undefined && kind !== 'dead_letter',
    staleTime: Infinity,
    retry: false,
  });
  if (kind === 'dead_letter') return <>{name ? `${name} (${id})` : id}</>;
  return (
    <Link to={kind === 'job' ? '/jobs/$id' : '/runs/$id'} params={{ id }} className="link underline">
      {name ?? read.data ?? id}
    </Link>
  );
}
