// Link to the executor of a run or a job.
import { Link } from '@tanstack/react-router';

export function ExecutorLink({ id }: { id: string | null | undefined }) {
  return id ? (
    <Link to="/executors/$id" params={{ id }} className="link whitespace-nowrap">
      {id}
    </Link>
  ) : (
    <span className="text-muted">–</span>
  );
}
