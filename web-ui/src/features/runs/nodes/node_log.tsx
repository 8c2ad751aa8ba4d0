// Card with the log of one node, beside the graph of the run. It takes the focus when another node is chosen.
import '../../workflows/texts.en';
import '../log/texts.en';
import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { Suspense, lazy, useEffect, useRef, useState } from 'react';
import { FINAL_STATES } from '../../../api/types';
import type { RunNode } from '../../../api/workflows';
import { useTranslation } from '../../../i18n/use_translation';
import { Card } from '../../../ui/ui';
import type { Level } from '../log/log_levels';
import { showLog } from './shown_log';

// From the page that this card stands on: as a part of its own, it would bring its icons to the first page.
const Output = lazy(() => import('../detail/run_page').then((page) => ({ default: page.Output })));

export default function NodeLog({ node }: { node: RunNode }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const box = useRef<HTMLElement>(null);
  const [search, setSearch] = useState('');
  const [level, setLevel] = useState<Level>();
  const { run_id } = node;
  useEffect(() => {
    box.current?.focus({ preventScroll: true });
    box.current?.scrollIntoView({ block: 'nearest' });
  }, [run_id]);
  return (
    <section ref={box} tabIndex={-1} aria-label={t('nodes.log_of', { node: node.id })} className="min-w-0">
      <Card
        title={t('nodes.log_of', { node: node.id })}
        actions={
          <button
            type="button"
            className="button button-plain button-icon"
            aria-label={t('nodes.log_close')}
            title={t('nodes.log_close')}
            onClick={() => showLog(null)}
          >
            <X aria-hidden size={15} />
          </button>
        }
        flush
      >
        <Suspense>
          <Output
            key={run_id + ' ' + node.attempt}
            runId={run_id}
            attempt={node.attempt}
            open={!FINAL_STATES.has(node.state)}
            search={search}
            level={level}
            onSearch={setSearch}
            onLevel={setLevel}
            onLink={(hash) => void navigate({ to: '/runs/$id', params: { id: run_id }, hash })}
          />
        </Suspense>
      </Card>
    </section>
  );
}
