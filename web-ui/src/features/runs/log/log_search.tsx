// Search field of a log, with buttons for the previous and the next hit.
import './texts.en';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useTranslation } from '../../../i18n/use_translation';

export function LogSearch(props: {
  text: string;
  at: number; // number of the current hit, from 1; 0: there is no hit
  of: number;
  onStep: (by: number) => void;
  onChange: (text: string) => void;
}) {
  const { t } = useTranslation();
  const none = props.of === 0;
  return (
    <>
      <input
        type="search"
        className="input w-full sm:w-48"
        aria-label={t('output.search')}
        placeholder={t('output.search')}
        value={props.text}
        onChange={(event) => props.onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          props.onStep(event.shiftKey ? -1 : 1);
        }}
      />
      {props.text && (
        <>
          <span className="text-muted" role="status">
            {t('output.hits', { at: props.at, of: props.of })}
          </span>
          <button
            type="button"
            className="button button-icon"
            aria-label={t('output.previous')}
            disabled={none}
            onClick={() => props.onStep(-1)}
          >
            <ChevronUp aria-hidden size={15} />
          </button>
          <button
            type="button"
            className="button button-icon"
            aria-label={t('output.next')}
            disabled={none}
            onClick={() => props.onStep(1)}
          >
            <ChevronDown aria-hidden size={15} />
          </button>
        </>
      )}
    </>
  );
}
