// Returns a schedule as text, as the user wrote it, and its time zone. Pure.
import '../jobs/detail/texts.en';
import type { Job, Schedule } from '../../api/types';
import { span } from '../../lib/format';

type CronSchedule = Extract<Schedule, { kind: 'cron' }>;
type RateSchedule = Extract<Schedule, { kind: 'rate' }>;
type Translate = (key: string, values?: Record<string, unknown>) => string;

const shortTime = (time: string) => time.replace('T', ' ').replace(/\.0+Z$/, 'Z');

// `upstream`: the name of the job after which the schedule fires, if it is known.
export function scheduleText(schedule: Schedule, t: Translate, language: string, upstream?: string): string {
  if (schedule.kind === 'after')
    return t(`schedule.after_${schedule.on ?? 'success'}`, { name: upstream ?? schedule.job });
  if (schedule.kind === 'cron') return schedule.cron_expression;
  if (schedule.kind === 'rate') return t('schedule.every', { span: span(schedule.every_ms, language) });
  if (schedule.kind === 'delay') return t('schedule.delay', { span: span(schedule.every_ms, language) });
  if (schedule.kind === 'event') return t('schedule.event', { type: schedule.type });
  return t('schedule.once', { at: shortTime(schedule.at) });
}

// The window, the jitter, the calendars, the source and filter of events, and the parameters of a schedule as one
// line; empty if it has none.
export function limitsText(schedule: Schedule, t: Translate, language: string): string {
  const parts: string[] = [];
  if ((schedule.kind === 'cron' || schedule.kind === 'delay') && schedule.start_time)
    parts.push(t('schedule.from', { at: shortTime(schedule.start_time) }));
  if (schedule.kind === 'event')
    parts.push(...[schedule.source ?? '', schedule.filter ?? ''].filter(Boolean));
  if (schedule.kind === 'cron' || schedule.kind === 'rate') parts.push(...fireLimits(schedule, t, language));
  const parameters = Object.entries(schedule.parameters ?? {}).map(([name, value]) => `${name}=${value}`);
  if (parameters.length > 0) parts.push(t('schedule.parameters', { list: parameters.join(', ') }));
  return parts.join(' · ');
}

function fireLimits(schedule: CronSchedule | RateSchedule, t: Translate, language: string): string[] {
  const parts = [];
  if (schedule.end_time) parts.push(t('schedule.until', { at: shortTime(schedule.end_time) }));
  if (schedule.jitter_s) parts.push(t('schedule.jitter', { span: span(schedule.jitter_s * 1000, language) }));
  if (schedule.calendar) parts.push(t('schedule.calendar', { name: schedule.calendar }));
  if (schedule.blackout) parts.push(t('schedule.blackout', { name: schedule.blackout }));
  return parts;
}

export function zoneOf(job: Job): string {
  const [first] = job.schedules;
  return (first?.kind === 'cron' && first.time_zone) || job.time_zone;
}
