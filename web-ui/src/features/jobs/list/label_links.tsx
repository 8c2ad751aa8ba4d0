// Labels of a job. A click on a label filters the list by this label.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useTranslation } from '../../../i18n/use_translation';
import { conditionFor, withCondition } from './selector_values';

export function LabelLinks({
  labels,
  selector,
  within,
}: {
  labels: Record<string, string>;
  selector?: string;
  within?: boolean;
}) {
  const { t } = useTranslation();
  return (
    <span className="inline-flex flex-wrap gap-1">
      {Object.entries(labels).map(([name, value]) => {
        const condition = conditionFor(name, value);
        const text = (
          <span>
            {name}
            {value && (
              <>
                =<span className="text-ink">{value}</span>
              </>
            )}
          </span>
        );
        const look = 'inline-flex min-h-6 items-center rounded bg-raised px-1.5 text-xs text-muted';
        if (condition === null)
          return (
            <span key={name} className={look}>
              {text}
            </span>
          );
        return (
          <Link
            key={name}
            to="/jobs"
            className={look + ' no-underline hover:underline'}
            title={t('jobs.only_label', { label: condition })}
            search={(before) => ({ ...(within ? before : {}), selector: withCondition(selector, condition) })}
          >
            {text}
          </Link>
        );
      })}
    </span>
  );
}
