// Returns a schedule as text, as the user wrote it, and its time zone. Pure.
import './texts.en';
import type { Job, Schedule } from '../../../api/types';
import { span } from '../../../lib/format';

type Translate = (key: string, values?: Record<string, unknown>) => string;

const shortTime = (time: string) => time.replace('T', ' ').replace(/\.0+Z$/, 'Z');

export function scheduleText(schedule: Schedule, t: Translate, language: string): string {
  if (schedule.kind === 'cron') return schedule.cron_expression;
  if (schedule.kind === 'rate') return t('schedule.every', { span: span(schedule.every_ms, language) });
  return t('schedule.once', { at: shortTime(schedule.at) });
}

// The window and the jitter of a schedule as one line; empty if it has none.
export function limitsText(schedule: Schedule, t: Translate, language: string): string {
  if (schedule.kind === 'once') return '';
  const parts = [];
  if (schedule.kind === 'cron' && schedule.start_time)
    parts.push(t('schedule.from', { at: shortTime(schedule.start_time) }));
  if (schedule.end_time) parts.push(t('schedule.until', { at: shortTime(schedule.end_time) }));
  if (schedule.jitter_s) parts.push(t('schedule.jitter', { span: span(schedule.jitter_s * 1000, language) }));
  return parts.join(' · ');
}

export function zoneOf(job: Job): string {
  const [first] = job.schedules;
  return (first?.kind === 'cron' && first.time_zone) || job.time_zone;
}
