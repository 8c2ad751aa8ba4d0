// A list of what a query reads: its rows, or the reason why there are none.
import type { ReactNode } from 'react';
import { EmptyMatch, LoadFailure, Loading, MoreButton, isUnfinished, searchedTo, type MoreQuery } from './ui';

interface Props {
  query: MoreQuery & { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown };
  empty?: ReactNode; // shown if there is nothing yet
  match?: () => void; // clears the filters; undefined if there are none
  invalid?: boolean; // the server refuses the filter, so nothing matches it
  children: ReactNode; // the rows; false if there are none
}

export function ListRows({ query, empty, match, invalid, children }: Props) {
  const failed = query.isError && !(match && invalid);
  return (
    <>
      {query.isPending ? (
        <Loading />
      ) : children ? (
        children
      ) : failed ? (
        <LoadFailure error={query.error} onRetry={() => void query.refetch()} />
      ) : isUnfinished(query) || searchedTo(query) ? null : match ? (
        <EmptyMatch onClear={match} />
      ) : (
        empty
      )}
      <MoreButton query={query} />
    </>
  );
}

export function ListCard(props: Props) {
  return (
    <div className="card overflow-hidden">
      <ListRows {...props} />
    </div>
  );
}
