// English, for what is seldom opened.
export const enSeldom = {
  // Running a job otherwise than it says.
  'run_with.title': 'Run {{name}} with…',
  'run_with.again_title': 'Run {{name}} again with changes',
  'run_with.start': 'Run',
  'run_with.parameters': 'Parameters',
  'run_with.parameters_hint': 'A JSON object of texts, numbers and yes or no; the command sees CARILLON_PARAM_<NAME>. It is laid over what the job has.',
  'run_with.no_object': 'This has to be a JSON object.',
  'run_with.kept': 'The job has these, so they can be changed but not left out: {{names}}',
  'run_with.executor': 'Executor',
  'run_with.executor_job': 'As the job says: {{where}}',
  'run_with.executor_any': 'any',
  'run_with.executor_labels': 'any with {{labels}}',
  'run_with.executor_hint': 'What is chosen here goes before the executor and the labels of the job.',
  'run_with.priority': 'Priority',
  'run_with.priority_hint': '0 to 100, high first. Empty: as the job says.',
  'run_with.whole': 'A whole number from 0 to 100.',
  'run_with.paused': 'The job is paused: this run starts all the same.',
  'run_with.new_run': 'This makes a new run of the job as it is defined now; the old one stays as it is.',
} as const;
