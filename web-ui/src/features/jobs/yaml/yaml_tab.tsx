// The definition as YAML, with the mistakes that the text has and those that the server found in it.
import '../../workflows/texts.en';
import '../form/texts.en';
import { useMemo } from 'react';
import { useProblems } from '../../../api/workflows';
import type { FieldError } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { useDelayed } from '../../../lib/use_delayed';
import { Card } from '../../../ui/ui';
import { CodeField, type Mistake } from '../../code/code_field';
import { readYamlText } from '../../code/yaml_text';
import { suggestIn } from './definition_fields';
import { isObject } from '../form/form_schema';
import { useYamlMistakes } from './yaml_mistakes';

const PAUSE_MS = 400; // of typing, before the text is checked
const suggest = suggestIn('');

export default function YamlTab(props: {
  text: string;
  jobId: string | undefined;
  errors: readonly FieldError[];
  onChange: (text: string) => void;
}) {
  const { t } = useTranslation();
  const { mistakes, isChecked } = useMistakes(props);
  return (
    <Card>
      <CodeField
        label="YAML"
        hint={t('form.yaml_hint')}
        className="h-[calc(100dvh-17rem)] min-h-96"
        value={props.text}
        mistakes={mistakes}
        isChecked={isChecked}
        suggest={suggest}
        onChange={props.onChange}
      />
    </Card>
  );
}

// The nodes of a workflow are checked while they are typed, all else when the job is saved.
function useMistakes(props: { text: string; jobId: string | undefined; errors: readonly FieldError[] }) {
  const yamlMistakes = useYamlMistakes();
  const text = useDelayed(props.text, PAUSE_MS);
  const read = useMemo(() => readYamlText(text), [text]);
  const workflow = isObject(read.value) && isObject(read.value.workflow) ? read.value.workflow : undefined;
  const problems = useProblems(workflow, props.jobId);
  const found = workflow ? problems.data : undefined;
  const unread = yamlMistakes(text, read);
  const told = new Set(found?.map(({ pointer }) => pointer));
  const mistakes: Mistake[] = [
    ...unread,
    ...(found ?? []).map(({ pointer, message }) => ({
      line: read.lineOf(pointer),
      text: <Told pointer={pointer} detail={message} />,
    })),
    ...props.errors
      .filter(({ code, pointer }) => !told.has(pointer) && (code !== 'yaml' || unread.length === 0))
      .map(({ pointer, detail }) => ({
        line: read.lineOf(pointer),
        text: <Told pointer={pointer} detail={detail} />,
      })),
  ];
  return { mistakes, isChecked: found?.length === 0 };
}

function Told({ pointer, detail }: { pointer: string; detail: string }) {
  return (
    <>
      {pointer && <span className="mono">{pointer}: </span>}
      {detail}
    </>
  );
}
