// The difference of two texts: lines with their numbers before and after, and a sign for each change.
import './texts.en';
import { useMemo } from 'react';
import { useTranslation } from '../../i18n/use_translation';
import { TableFrame } from '../../ui/ui';
import { lineDiff, nodeChanges, type DiffLine } from './line_diff';

const TONES = { same: '', added: 'bg-ok-soft', removed: 'bg-bad-soft' } as const;
const SIGNS = { same: '', added: '+', removed: '−' } as const;
const NAMED_MAX = 12; // nodes

export function LineDiffTable(props: { label: string; before: string; after: string }) {
  const { t } = useTranslation();
  const pieces = useMemo(() => lineDiff(props.before, props.after), [props.before, props.after]);
  return (
    <TableFrame label={props.label}>
      <table className="mono w-full border-collapse">
        <thead className="sr-only">
          <tr>
            <th scope="col">{t('diff.before')}</th>
            <th scope="col">{t('diff.after')}</th>
            <th scope="col">{t('diff.kind')}</th>
            <th scope="col">{t('diff.text')}</th>
          </tr>
        </thead>
        <tbody>
          {pieces.map((piece, i) =>
            piece.kind === 'left_out' ? (
              // oxlint-disable-next-line react/no-array-index-key -- rows have no state
              <tr key={i} className="bg-raised text-muted">
                <td colSpan={4} className="px-3 py-0.5 text-center">
                  {t('diff.left_out', { count: piece.count })}
                </td>
              </tr>
            ) : (
              // oxlint-disable-next-line react/no-array-index-key -- rows have no state
              <Line key={i} line={piece} />
            ),
          )}
        </tbody>
      </table>
    </TableFrame>
  );
}

function Line({ line }: { line: DiffLine }) {
  const { t } = useTranslation();
  const numbers = 'w-10 px-1.5 text-right align-top tabular-nums text-muted select-none';
  return (
    <tr className={TONES[line.kind]} data-kind={line.kind}>
      <td className={numbers}>{line.before}</td>
      <td className={numbers}>{line.after}</td>
      <td className="w-5 text-center align-top select-none">
        {SIGNS[line.kind]}
        {line.kind !== 'same' && <span className="sr-only">{t(`diff.${line.kind}`)}</span>}
      </td>
      <td className="pr-3 whitespace-pre-wrap wrap-anywhere">{line.text}</td>
    </tr>
  );
}

// The nodes in which two versions of a workflow differ, in words.
export function NodeChangeList({ before, after }: { before: unknown; after: unknown }) {
  const { t } = useTranslation();
  const { added, removed, changed } = useMemo(() => nodeChanges(before, after), [before, after]);
  const said = [
    ['diff.nodes_added', added],
    ['diff.nodes_removed', removed],
    ['diff.nodes_changed', changed],
  ] as const;
  const shown = said.filter(([, nodes]) => nodes.length > 0);
  if (shown.length === 0) return null;
  return (
    <ul>
      {shown.map(([key, nodes]) => (
        <li key={key} className="wrap-anywhere">
          {t(key, { nodes: nodes.slice(0, NAMED_MAX).join(', ') + (nodes.length > NAMED_MAX ? ', …' : '') })}
        </li>
      ))}
    </ul>
  );
}
