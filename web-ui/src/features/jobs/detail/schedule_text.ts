// Returns a schedule as text, as the user wrote it, and its time zone. Pure.
import './texts.en';
import type { Job, Schedule } from '../../../api/types';
import { span } from '../../../lib/format';

type Translate = (key: string, values?: Record<string, unknown>) => string;

export function scheduleText(schedule: Schedule, t: Translate, language: string): string {
  if (schedule.kind === 'cron') return schedule.cron_expression;
  if (schedule.kind === 'rate') return t('schedule.every', { span: span(schedule.every_ms, language) });
  return t('schedule.once', { at: schedule.at.replace('T', ' ').replace(/\.0+Z$/, 'Z') });
}

export function zoneOf(job: Job): string {
  const [first] = job.schedules;
  return (first?.kind === 'cron' && first.time_zone) || job.time_zone;
}
