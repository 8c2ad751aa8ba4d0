// Field of the job form with the nodes of a workflow as YAML, beside its graph and its mistakes.
import '../../workflows/texts.en';
import { useEffect, useMemo, useState } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { useProblems, type WorkflowProblem } from '../../../api/workflows';
import { useTranslation } from '../../../i18n/use_translation';
import { Text } from '../form/form_fields';
import { DEFAULTS, workflowOf, type FormValues } from '../form/form_schema';
import { draftOf, nodeOf } from '../../workflows/draft';
import { WorkflowGraph } from '../../workflows/workflow_graph';

const PAUSE_MS = 400; // of typing, before the draft is checked
const DAY = '86400'; // s; the default timeout of workflows

export default function WorkflowField({ isNew }: { isNew: boolean }) {
  const { t } = useTranslation();
  const { getValues, setValue } = useFormContext<FormValues>();
  const [text, jobId] = useWatch<FormValues, ['workflow', 'job_id']>({ name: ['workflow', 'job_id'] });
  const settled = useSettled(text, PAUSE_MS);
  const workflow = useMemo(() => (settled.trim() ? workflowOf(settled) : undefined), [settled]);
  const problems = useProblems(workflow ?? undefined, jobId);
  useEffect(() => {
    if (isNew && getValues('timeout') === DEFAULTS.timeout) setValue('timeout', DAY);
  }, [isNew, getValues, setValue]);
  const found = workflow ? (problems.data ?? []) : [];
  const nodes = useMemo(() => {
    const wrong = new Set((workflow ? (problems.data ?? []) : []).map((one) => nodeOf(one.pointer)));
    return draftOf(workflow).map((node, i) => ({ ...node, wrong: wrong.has(i) }));
  }, [workflow, problems.data]);
  return (
    <div className="grid gap-4 sm:col-span-2 xl:grid-cols-2">
      <Text
        name="workflow"
        label={t('nodes.definition')}
        mono
        rows={18}
        hint={t('nodes.definition_hint')}
        placeholder={'nodes:\n  - {id: load, job: load-orders}\n  - {id: report, job: report, after: [load]}'}
      />
      <div className="min-w-0 rounded-md bg-code p-4">
        {workflow === null ? (
          <p className="text-bad">{t('nodes.not_yaml')}</p>
        ) : nodes.length === 0 ? (
          <p className="text-muted">{t('nodes.draft_empty')}</p>
        ) : (
          <WorkflowGraph nodes={nodes} />
        )}
        <div aria-live="polite" className="mt-3">
          <Problems found={found} valid={Boolean(workflow && problems.data?.length === 0)} names={nodes} />
        </div>
      </div>
    </div>
  );
}

function Problems(props: {
  found: readonly WorkflowProblem[];
  valid: boolean;
  names: readonly { id: string }[];
}) {
  const { t } = useTranslation();
  if (props.valid) return <p className="text-ok">{t('nodes.valid')}</p>;
  if (props.found.length === 0) return null;
  return (
    <>
      <h3 className="mb-1 text-xs font-medium text-muted">{t('nodes.checks')}</h3>
      <ul className="text-bad">
        {props.found.map((one) => {
          const node = props.names[nodeOf(one.pointer) ?? -1];
          return (
            <li key={one.pointer + one.code}>
              <span className="mono">{node ? node.id : one.pointer}: </span>
              <span lang="en">{one.message}</span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

// The value, once it has not changed for a while.
function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
