import { addEnglish } from '../../i18n';

export const en = {
  'gaps.title': 'Missed fires',
  // Missed fires.
  'gaps.under': 'Scheduled times without a run',
  'gaps.none': 'No missed fires',
  'gaps.none_hint':
    'Fires that could not be planned in time, or that were due while their job was paused, appear here with period, count and reason.',
  'gaps.any_reason': 'Any reason',
  'gaps.from': 'First',
  'gaps.to': 'Last',
  'gaps.fires': 'Fires',
  'gaps.why_named': 'Why? Missed fires of {{job}}',
} as const;
addEnglish(en);
