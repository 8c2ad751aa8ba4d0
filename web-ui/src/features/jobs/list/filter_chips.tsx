// Chips of the label and owner filters, and a field that adds a label. Users can remove each chip.
import './texts.en';
import { Plus, X } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { useTranslation } from '../../../i18n/use_translation';
import { conditionsOf, withCondition, withoutCondition } from './selector_values';

export function LabelField({
  selector,
  onChange,
}: {
  selector?: string;
  onChange: (selector: string | undefined) => void;
}) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    onChange(withCondition(selector, text));
    setText('');
  };
  return (
    <form className="flex gap-1" onSubmit={submit}>
      <input
        className="input mono w-44"
        aria-label={t('jobs.by_label')}
        placeholder={t('jobs.by_label_such')}
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button
        type="submit"
        className="button button-icon min-h-[34px]"
        aria-label={t('jobs.add_label')}
        title={t('jobs.add_label')}
      >
        <Plus aria-hidden size={15} />
      </button>
    </form>
  );
}

export function FilterChips(props: {
  selector?: string;
  owner?: string; // the name of the owner
  onSelector: (selector: string | undefined) => void;
  onOwner: () => void;
}) {
  const { t } = useTranslation();
  const conditions = conditionsOf(props.selector ?? '');
  if (conditions.length === 0 && !props.owner) return null;
  return (
    <ul aria-label={t('jobs.filtered_by')} className="mb-3 flex flex-wrap gap-1.5">
      {conditions.map((one) => (
        <Chip
          key={one}
          text={one}
          onRemove={() => props.onSelector(withoutCondition(props.selector!, one))}
        />
      ))}
      {props.owner && <Chip text={t('jobs.owner_is', { name: props.owner })} onRemove={props.onOwner} />}
    </ul>
  );
}

function Chip({ text, onRemove }: { text: string; onRemove: () => void }) {
  const { t } = useTranslation();
  const remove = t('jobs.remove_filter', { filter: text });
  return (
    <li className="inline-flex items-center gap-1 rounded-full border border-accent bg-accent-soft pl-3 text-xs font-medium text-accent">
      <span className="mono">{text}</span>
      <button
        type="button"
        className="inline-flex size-7 items-center justify-center rounded-full"
        aria-label={remove}
        title={remove}
        onClick={onRemove}
      >
        <X aria-hidden size={13} />
      </button>
    </li>
  );
}
