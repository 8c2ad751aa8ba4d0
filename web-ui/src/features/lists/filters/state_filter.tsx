// Filter by state. If no state is chosen, all states are shown.
import type { ReactNode } from 'react';
import { useTranslation } from '../../../i18n/use_translation';

export function StateFilter(props: {
  states: readonly string[];
  chosen: string[];
  onChange: (states: string[] | undefined) => void;
}) {
  const { t } = useTranslation();
  const toggle = (state: string) => {
    const next = props.chosen.includes(state)
      ? props.chosen.filter((one) => one !== state)
      : [...props.chosen, state];
    props.onChange(next.length > 0 ? next : undefined);
  };
  return (
    <div role="group" aria-label={t('runs.state')} className="flex flex-wrap gap-1.5">
      {props.states.map((state) => (
        <StateChip key={state} on={props.chosen.includes(state)} onClick={() => toggle(state)}>
          {t(`state.${state}`)}
        </StateChip>
      ))}
    </div>
  );
}

export function StateChip(props: { on: boolean; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-pressed={props.on}
      onClick={props.onClick}
      className={
        'min-h-7 rounded-full border px-3 text-xs ' +
        (props.on
          ? 'border-accent bg-accent-soft font-medium text-accent'
          : 'bg-surface text-muted hover:text-ink')
      }
    >
      {props.children}
    </button>
  );
}
