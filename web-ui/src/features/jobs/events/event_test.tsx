// Box in which an event is tested: an event as JSON, and what it would start. Nothing is started or stored.
import '../../events/texts.en';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useEventTest, type EventTestOf, type EventVerdict } from '../../../api/event_records';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import { explain } from '../../../ui/ui';
import { eventIn, sampleEvent } from './event_values';

const TONES = {
  matched: 'text-ok',
  no_match: 'text-muted',
  not_computable: 'text-warn',
  bad_event: 'text-bad',
} as const;

// `of`: what is asked; null while the draft is not whole. `sample`: the first text.
export default function EventTest(props: { of: EventTestOf | null; sample?: string }) {
  const { t } = useTranslation();
  const [text, setText] = useState(props.sample ?? sampleEvent());
  const test = useEventTest();
  const event = eventIn(text);
  const { of } = props;
  return (
    <section className="grid min-w-0 gap-2" aria-label={t('events.test')}>
      <Field
        label={t('events.test_event')}
        hint={t('events.test_hint')}
        error={event === null ? t('events.not_json') : undefined}
      >
        <textarea
          className="input mono"
          rows={8}
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(change) => setText(change.target.value)}
        />
      </Field>
      <button
        type="button"
        className="button justify-self-start"
        disabled={event === null || of === null || test.isPending}
        onClick={() => of && test.mutate({ event, of })}
      >
        {t('events.test')}
      </button>
      <div aria-live="polite" className="min-w-0">
        {test.isError ? (
          <p className="text-bad">{explain(test.error, t)}</p>
        ) : test.data?.length === 0 ? (
          <p className="text-muted">{t('events.no_triggers')}</p>
        ) : (
          test.data && (
            <ul className="grid gap-3" data-testid="verdicts">
              {test.data.map((one, i) => (
                // oxlint-disable-next-line react/no-array-index-key -- two triggers of a job may be equal
                <Verdict key={i} verdict={one} />
              ))}
            </ul>
          )
        )}
      </div>
    </section>
  );
}

function Verdict({ verdict }: { verdict: EventVerdict }) {
  const { t } = useTranslation();
  const { result, job_id: job } = verdict;
  const parameters = Object.entries(verdict.parameters);
  return (
    <li className="grid gap-1 rounded-md bg-code p-3 wrap-anywhere" data-result={result}>
      <p className="flex flex-wrap items-center gap-x-2">
        <span className={'font-medium ' + TONES[result]}>{t(`events.result.${result}`)}</span>
        {job !== null && verdict.schedule_id !== null && (
          <Link to="/jobs/$id" params={{ id: job }} className="link mono inline-flex min-h-6 items-center">
            {job}
          </Link>
        )}
      </p>
      <p className="text-muted" lang="en">
        {verdict.sentence}
      </p>
      {parameters.length > 0 && (
        <dl className="grid grid-cols-[minmax(5rem,auto)_1fr] gap-x-3 gap-y-1">
          {parameters.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="mono">{name}</dt>
              <dd className="min-w-0">
                <code className="mono break-all">{JSON.stringify(value)}</code>
                {verdict.untrusted.includes(name) && (
                  <span className="ml-2 rounded bg-warn-soft px-1.5 text-xs text-warn">
                    {t('events.untrusted')}
                  </span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {verdict.untrusted.length > 0 && <p className="text-xs text-muted">{t('events.untrusted_hint')}</p>}
    </li>
  );
}
