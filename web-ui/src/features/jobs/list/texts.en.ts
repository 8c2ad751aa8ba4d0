import { addEnglish } from '../../../i18n';

export const en = {
  'jobs.any_namespace': 'Any namespace',
  'jobs.run_with': 'Run with…',
  'jobs.state': 'State',
  'jobs.schedule': 'Schedule',
  'jobs.next': 'Next fire',
  'jobs.not_planned': 'Cannot be planned',
  'jobs.unreadable': 'Cannot be read',
  'jobs.another_user': 'another user',
  'jobs.search': 'Search by name or ID',
  'jobs.none': 'No jobs yet',
  'jobs.none_hint':
    'A job is a command with a schedule. Create the first one here, or from the command line.',
  'jobs.run': 'Run now',
  'jobs.run_named': 'Run {{name}} now',
  'jobs.more_named': 'More actions for {{name}}',
  'jobs.resume': 'Resume',
  'jobs.edit': 'Edit',
  'jobs.duplicate': 'Duplicate',
  // The list of jobs: filters, import and export.
  'jobs.only_label': 'Only jobs with {{label}}',
  'jobs.by_label': 'Filter by labels, for example team = etl',
  'jobs.by_label_such': 'team = etl',
  'jobs.add_label': 'Filter by this label',
  'jobs.filtered_by': 'Filtered by',
  'jobs.owner_is': 'Owner: {{name}}',
  'jobs.paused_by_failures': 'Paused by failures',
  'jobs.remove_filter': 'Remove the filter {{filter}}',
  'jobs.page_size': 'Rows per page',
  'jobs.page_of': '{{n}} rows',
  'jobs.last_result': 'Last result',
  'jobs.import': 'Import',
  'strip.column': 'Last runs',
} as const;
addEnglish(en);
