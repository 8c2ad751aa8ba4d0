import { addEnglish } from '../../../i18n';

export const en = {
  'jobs.paused': '{{name}} paused',
  'jobs.resumed': '{{name}} resumed',
  'jobs.deleted': '{{name}} deleted',
  'jobs.pause_title': 'Pause {{name}}?',
  'jobs.pause_explain':
    'No new runs start while the job is paused; running attempts continue. The skipped fires are recorded as missed fires when the job is resumed.',
  'jobs.delete_title': 'Delete {{name}}?',
  'jobs.delete_explain':
    'Running attempts finish and the history stays readable. The job ID cannot be used again. This cannot be undone.',
  'jobs.delete_dependents': 'These jobs depend on {{name}}:',
  'jobs.delete_anyway': 'Delete anyway',
  'jobs.delete_anyway_explain':
    'If you delete it anyway, they stay, but its runs no longer start them, nor end their waits.',
  'jobs.changed_meanwhile': 'Someone else changed the job in the meantime. Review it and try again.',
  // Running a job with options.
  'run_with.title': 'Run {{name}} with options',
  'run_with.again_title': 'Run {{name}} again',
  'run_with.start': 'Run',
  'run_with.parameters': 'Parameters',
  'run_with.parameters_hint':
    'A JSON object with string, number and boolean values. The command receives each value in the environment variable CARILLON_PARAM_<NAME>. Merged over the parameters of the job.',
  'run_with.other_parameters': 'Other parameters',
  'run_with.required_name': '{{name}} (required)',
  'run_with.choose': 'Choose…',
  'run_with.required': 'This run needs a value.',
  'run_with.no_choice': 'Must be one of the choices.',
  'run_with.of_integer': 'Must be a whole number.',
  'run_with.of_number': 'Must be a number.',
  'run_with.of_boolean': 'Must be yes or no.',
  'run_with.has_field': 'These parameters have a field of their own: {{names}}',
  'run_with.no_object': 'Must be a JSON object.',
  'run_with.kept': 'The job defines these parameters, so they can be changed but not removed: {{names}}',
  'run_with.executor': 'Executor',
  'run_with.executor_job': 'Job default: {{where}}',
  'run_with.executor_any': 'any executor',
  'run_with.executor_labels': 'any executor with {{labels}}',
  'run_with.executor_hint': 'Overrides the executor and selector of the job.',
  'run_with.executor_of_nodes': 'You cannot choose an executor: each node gets its own.',
  'run_with.executor_of_shards': 'You cannot choose an executor: each shard gets its own.',
  'run_with.priority': 'Priority',
  'run_with.priority_hint': '0 to 100; a higher priority starts first. Leave empty for the job default.',
  'run_with.whole': 'Must be a whole number from 0 to 100.',
  'run_with.paused': 'The job is paused. This run starts anyway.',
  'run_with.new_run': 'Starts a new run with the current version of the job. The old run stays unchanged.',
  // Cancelling all runs of a job.
  'cancel_runs.title': 'Cancel all runs of {{name}}?',
  'cancel_runs.do': 'Cancel runs',
  'cancel_runs.counts': '{{running}} running, {{pending}} pending, {{held}} held',
  'cancel_runs.none': 'This job has no active runs.',
  'cancel_runs.unknown': 'The number of active runs is unknown: {{why}}',
  'cancel_runs.at_least': 'more than {{n}}',
  'cancel_runs.explain':
    'Pending runs never start; the processes of running runs are terminated. The schedule keeps firing: pause the job to prevent new runs.',
  'cancel_runs.reason': 'Reason (optional)',
  'cancel_runs.done': 'Cancelling {{n}} runs of {{name}}',
  'cancel_runs.done_one': 'Cancelling 1 run of {{name}}',
  'cancel_runs.nothing': '{{name}} had no active runs',
} as const;
addEnglish(en);
