// Field of the job form with the nodes of a workflow as YAML, beside its graph. Its mistakes are above the text.
import '../../workflows/texts.en';
import { useEffect, useMemo, useState } from 'react';
import { useController, useFormContext, useWatch } from 'react-hook-form';
import { useProblems } from '../../../api/workflows';
import { useTranslation } from '../../../i18n/use_translation';
import { useDelayed } from '../../../lib/use_delayed';
import { CodeField, type Mistake } from '../../code/code_field';
import { readYamlText } from '../../code/yaml_text';
import { useError } from '../form/form_fields';
import { DEFAULTS, isObject, type FormValues } from '../form/form_schema';
import { suggestIn } from '../yaml/definition_fields';
import { useYamlMistakes } from '../yaml/yaml_mistakes';
import { draftOf, nodeOf } from '../../workflows/draft';
import { WorkflowGraph } from '../../workflows/workflow_graph';

const PAUSE_MS = 400; // of typing, before the draft is checked
const DAY = '86400'; // s; the default timeout of workflows
const EXAMPLE = 'nodes:\n  - {id: load, task: ./load}\n  - {id: report, job: report, after: [load]}';
// Fields that have no effect on a workflow, because its nodes have jobs of their own. The server refuses most of them.
const NOT_OF_WORKFLOWS: readonly (keyof FormValues)[] = [
  'env',
  'concurrency_group',
  'executor_selector',
  'executor_id',
  'fan_out',
  'routing',
  'routing_key',
  'kill_grace',
  'retry_count',
  'retry_interval',
  'retry_backoff',
  'retry_intervals',
  'retry_on',
  'no_retry_on',
  'on_lost',
];

const suggest = suggestIn('workflow');

export default function WorkflowField({ isNew }: { isNew: boolean }) {
  const { t } = useTranslation();
  const { getValues, setValue } = useFormContext<FormValues>();
  const { field } = useController<FormValues, 'workflow'>({ name: 'workflow' });
  const error = useError()('workflow');
  const jobId = useWatch<FormValues, 'job_id'>({ name: 'job_id' });
  const { workflow, mistakes, nodes, isChecked } = useDraft(field.value, jobId);
  const [last, setLast] = useState(nodes);
  if (workflow !== null && last !== nodes) setLast(nodes);
  useEffect(() => {
    if (isNew && getValues('timeout') === DEFAULTS.timeout) setValue('timeout', DAY);
    for (const name of NOT_OF_WORKFLOWS) setValue(name, DEFAULTS[name]);
  }, [isNew, getValues, setValue]);
  const isOld = workflow === null; // the graph is that of the last text that could be read
  const drawn = isOld ? last : nodes;
  return (
    <div className="grid gap-4 sm:col-span-2 xl:grid-cols-2">
      <CodeField
        label={t('nodes.definition')}
        hint={t('nodes.definition_hint')}
        error={error}
        placeholder={EXAMPLE}
        className="h-[75dvh] min-h-96"
        value={field.value}
        mistakes={mistakes}
        isChecked={isChecked}
        suggest={suggest}
        onChange={field.onChange}
        onBlur={field.onBlur}
        handle={field.ref}
      />
      <div className="min-w-0 rounded-md bg-code p-4">
        {isOld && <p className="mb-2 text-warn">{t('nodes.graph_old')}</p>}
        {drawn.length === 0 ? (
          <p className="text-muted">{t('nodes.draft_empty')}</p>
        ) : (
          <div className={isOld ? 'grayscale' : ''}>
            <WorkflowGraph nodes={drawn} />
          </div>
        )}
      </div>
    </div>
  );
}

// Reads and checks the text, once it has not changed for a while. `workflow` is null if the text cannot be read,
// undefined if it is empty.
function useDraft(text: string, jobId: string) {
  const yamlMistakes = useYamlMistakes();
  const settled = useDelayed(text, PAUSE_MS);
  const read = useMemo(() => readYamlText(settled), [settled]);
  const workflow = isObject(read.value) ? read.value : settled.trim() ? null : undefined;
  const problems = useProblems(workflow ?? undefined, jobId);
  const found = workflow ? problems.data : undefined;
  const nodes = useMemo(() => {
    const wrong = new Set((found ?? []).map((one) => nodeOf(one.pointer)));
    return draftOf(workflow).map((node, i) => ({ ...node, wrong: wrong.has(i) }));
    // oxlint-disable-next-line react/exhaustive-deps -- `read` is what the workflow depends on
  }, [read, found]);
  const mistakes: Mistake[] = [
    ...yamlMistakes(settled, read),
    ...(workflow === null && read.mistakes.length === 0 ? [{ line: 1, text: <NotAnObject /> }] : []),
    ...(found ?? []).map(({ pointer, message }) => {
      const node = nodes[nodeOf(pointer) ?? -1];
      return {
        line: read.lineOf(pointer.replace(/^\/workflow/, '')),
        text: (
          <>
            {node && <span className="mono">{node.id}: </span>}
            <span lang="en">{message}</span>
          </>
        ),
      };
    }),
  ];
  return { workflow, mistakes, nodes, isChecked: found?.length === 0 };
}

function NotAnObject() {
  const { t } = useTranslation();
  return t('nodes.no_object');
}
