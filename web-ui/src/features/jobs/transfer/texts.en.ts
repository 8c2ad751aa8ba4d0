import { addEnglish } from '../../../i18n';

export const en = {
  // Importing jobs from files.
  'import.title': 'Import jobs',
  'import.under': 'Job files in YAML or JSON, such as an export or files for carillon apply',
  'import.files': 'Files',
  'import.text': 'Jobs',
  'import.text_hint':
    'One job, a list of jobs, or several documents. An existing job is matched by job_id, or by name within its namespace.',
  'import.namespace_hint': 'Used for jobs that do not name a namespace',
  'import.prune': 'Delete jobs that are not in the files',
  'import.prune_hint': 'Only jobs in this namespace that match the labels below.',
  'import.prune_where': 'Choose a namespace first. Jobs outside that namespace are never deleted.',
  'import.selector': 'Delete only jobs with these labels',
  'import.selector_hint': 'Comma-separated conditions',
  'import.look': 'Preview changes',
  'import.look_first': 'Preview the changes before applying them.',
  'import.apply': 'Apply',
  'import.would': 'Planned changes',
  'import.did': 'Applied changes',
  'import.outcome': 'Result',
  'import.changes': 'Changes',
  'import.changes_many': 'Too many to show',
  'import.prune_rest': 'Some jobs still have to be deleted. Apply again to continue.',
  'import.too_big': 'At most {{n}} kB at a time.',
  'import.too_many': '{{n}} jobs are too many; at most {{most}} can be imported at a time.',
  'import.unquoted': 'Line {{line}}: put the value in quotes: {{quoted}}',
  'import.unreadable': 'Line {{line}}: {{why}}',
  'import.no_job': 'Item {{n}} is not a job: fields with names and values are expected.',
  'import.empty': 'No jobs found.',
  'jobs.export': 'Export',
  'jobs.export_all': 'Export all matching jobs as a YAML file',
  'jobs.export_ticked': 'Export the {{n}} selected jobs as a YAML file',
  'jobs.exported': '{{n}} jobs exported',
  'jobs.exported_one': '1 job exported',
  'jobs.not_exported': 'Export failed',
} as const;
addEnglish(en);
