import { addEnglish } from '../../../i18n';

export const en = {
  'runs.news': '{{n}} new',
  'runs.last_1h': 'Last hour',
  'runs.last_24h': 'Last 24 hours',
  'runs.last_168h': 'Last 7 days',
  'runs.waiting': 'Waits for other jobs',
  'runs.any_kind': 'Any trigger',
  'runs.any_owner': 'All owners',
  'runs.mine': 'My jobs',
  'range.title': 'Time range',
  'range.until': 'Until {{at}}',
  'range.from': 'From',
  'range.to': 'Until',
  'range.zone': 'In the time zone {{zone}}. Leave empty for no limit.',
  'range.wrong': 'The end must be after the start.',
  'range.apply': 'Apply',
  'runs.any_executor': 'Any executor',
  'runs.any_time': 'Any time',
  'runs.since': 'Since',
  'runs.since_at': 'Since {{at}} UTC',
  'runs.job_id': 'Job ID',
  'strip.label': 'Last runs of {{name}}, newest last',
  'strip.run': '{{state}}, {{at}}',
  'strip.run_took': '{{state}}, {{at}}, took {{span}}',
} as const;
addEnglish(en);
