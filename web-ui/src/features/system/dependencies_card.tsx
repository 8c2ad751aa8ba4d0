// Dependencies of the installation: the state of each part, the features that need the part, and the effect
// of its outage.
import './texts.en';
import { CircleCheck, CircleHelp, CircleX, Crown, TriangleAlert, type LucideIcon } from 'lucide-react';
import { useTopology } from '../../api/queries';
import type { OutageEffect, Topology, TopologyNode } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { readable, span } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { Card, LoadFailure, Loading, TableFrame } from '../../ui/ui';

export function DependenciesCard() {
  const { t } = useTranslation();
  const topology = useTopology();
  return (
    <Card title={t('deps.title')} className="lg:col-span-2" flush>
      {topology.isPending ? (
        <Loading />
      ) : !topology.data ? (
        <LoadFailure error={topology.error} onRetry={() => void topology.refetch()} />
      ) : (
        <>
          <Impact topology={topology.data} />
          <Parts topology={topology.data} />
        </>
      )}
    </Card>
  );
}

function useNames(topology: Topology): (id: string) => string {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const known = new Map(topology.nodes.map((node) => [node.id, node]));
  return (id) => {
    const node = known.get(id);
    if (!node) return id;
    if (node.kind === 'member') return `${t('part.member')} ${node.name}`;
    if (node.kind === 'executor') return `${t('part.executor')} ${node.name}`;
    return textOr('part.', node.kind);
  };
}

function Impact({ topology }: { topology: Topology }) {
  const { t } = useTranslation();
  const name = useNames(topology);
  const away = [...new Set(topology.impact.flatMap((one) => one.nodes))].map(name).join(', ');
  return (
    <div aria-live="polite">
      {topology.impact.length > 0 ? (
        <div className="border-b bg-warn-soft px-4 py-3 text-warn" data-testid="impact">
          <p className="flex items-center gap-2 font-medium">
            <TriangleAlert aria-hidden size={17} />
            {t('deps.now')}
            {away && ` (${away})`}
          </p>
          <Effects effects={topology.impact} />
        </div>
      ) : (
        <p className="px-4 pt-4 text-muted">
          {t('deps.fine')} {t('deps.under', { member: topology.seen_by })}
        </p>
      )}
    </div>
  );
}

function Effects({ effects }: { effects: OutageEffect[] }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const textOr = useTextOr();
  const when = (one: OutageEffect) =>
    [
      one.after_s > 0 ? t('deps.after', { span: span(one.after_s * 1000, language) }) : '',
      one.until_s === null ? '' : t('deps.until', { span: span(one.until_s * 1000, language) }),
    ]
      .filter(Boolean)
      .join(' ');
  return (
    <ul className="mt-2 grid gap-1.5">
      {effects.map((one) => (
        <li key={one.code} data-code={one.code}>
          <strong className="font-medium">
            {textOr('capability.', one.capability)}: {textOr('effect.', one.effect)}
            {when(one) && ` (${when(one)})`}.
          </strong>{' '}
          <Sentence effect={one} />
        </li>
      ))}
    </ul>
  );
}

// The effect in words. If only a newer server knows its code, the words are those of the server.
function Sentence({ effect }: { effect: OutageEffect }) {
  const { t, i18n } = useTranslation();
  const key = 'outage.' + effect.code;
  return i18n.exists(key) ? <>{t(key)}</> : <span lang="en">{effect.detail}</span>;
}

function Parts({ topology }: { topology: Topology }) {
  const { t } = useTranslation();
  const name = useNames(topology);
  return (
    <TableFrame label={t('deps.title')}>
      <table className="table cards">
        <thead>
          <tr>
            <th scope="col">{t('deps.part')}</th>
            <th scope="col">{t('deps.state')}</th>
            <th scope="col">{t('deps.needs')}</th>
            <th scope="col">{t('deps.without')}</th>
          </tr>
        </thead>
        <tbody>
          {topology.nodes.map((node) => (
            <tr key={node.id} data-node={node.id}>
              <td>
                <span className="flex flex-wrap items-center gap-2 font-medium">
                  {name(node.id)}
                  {node.leader && (
                    <span className="inline-flex items-center gap-1 rounded-full bg-accent-soft px-2 py-0.5 text-xs text-accent">
                      <Crown aria-hidden size={13} />
                      {t('deps.leader')}
                    </span>
                  )}
                </span>
                {node.address && <span className="mono break-all text-muted">{node.address}</span>}
              </td>
              <td>
                <State node={node} />
              </td>
              <td>
                <Needs id={node.id} topology={topology} name={name} />
              </td>
              <td>
                <Without node={node} name={name(node.id)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

const SHAPES: Record<string, readonly [LucideIcon, string]> = {
  ok: [CircleCheck, 'bg-ok-soft text-ok'],
  degraded: [TriangleAlert, 'bg-warn-soft text-warn'],
  down: [CircleX, 'bg-bad-soft text-bad'],
  unknown: [CircleHelp, 'bg-idle-soft text-idle'],
};

function State({ node }: { node: TopologyNode }) {
  const textOr = useTextOr();
  const [Icon, tone] = SHAPES[node.state] ?? SHAPES.unknown!;
  return (
    <div>
      <span
        className={`inline-flex items-center gap-1.5 rounded-full py-0.5 pr-2.5 pl-1.5 text-xs font-medium whitespace-nowrap ${tone}`}
        data-node-state={node.state}
      >
        <Icon aria-hidden size={14} />
        {textOr('node_state.', node.state)}
      </span>
      {node.counts && (
        <p className="mt-1 text-muted">
          {Object.entries(node.counts)
            .map(([state, n]) => `${textOr('state.', state)} ${n}`)
            .join(' · ')}
        </p>
      )}
      {node.detail && (
        <p className="mt-1 text-muted" lang="en">
          {readable(node.detail)}
        </p>
      )}
    </div>
  );
}

function Needs({ id, topology, name }: { id: string; topology: Topology; name: (id: string) => string }) {
  const textOr = useTextOr();
  const edges = topology.edges.filter((edge) => edge.from === id);
  if (edges.length === 0) return <span className="text-muted">–</span>;
  return (
    <ul>
      {edges.map((edge) => (
        <li key={edge.to}>
          <span className={edge.critical ? 'font-medium' : ''}>{name(edge.to)}</span>
          <span className="text-muted">: {textOr('purpose.', edge.purpose)}</span>
          {(edge.state === 'down' || edge.state === 'degraded') && (
            <span className="text-bad"> ({textOr('node_state.', edge.state)})</span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Without({ node, name }: { node: TopologyNode; name: string }) {
  const { t } = useTranslation();
  if (node.affects.length === 0) return <span className="text-muted">–</span>;
  const many = (effect: OutageEffect['effect']) => node.affects.filter((one) => one.effect === effect).length;
  const parts = (['stops', 'delayed', 'goes_on'] as const)
    .filter((effect) => many(effect) > 0)
    .map((effect) => t(`deps.${effect}_n`, { n: many(effect), count: many(effect) }));
  return (
    <details>
      <summary className="text-accent" aria-label={`${name}: ${t('deps.without')}: ${parts.join(', ')}`}>
        {parts.join(', ')}
      </summary>
      <Effects effects={node.affects} />
    </details>
  );
}
