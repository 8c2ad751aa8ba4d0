// The executor of a run or a job, by its id, and the way to its page.
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
