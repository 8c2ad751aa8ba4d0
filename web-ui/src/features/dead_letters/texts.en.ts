import { addEnglish } from '../../i18n';

export const en = {
  'runs.whole_job_id': 'Exact job ID',
  'failing.title': 'Failing jobs',
  'failing.hint':
    'Jobs with dead letters and no success since. A job leaves this list with its next success.',
  'failing.since': 'Failing since',
  'failing.in_a_row': 'Failures in a row',
  'failing.last_success': 'Last success',
  'failing.no_success': 'None on record',
  'failing.letters_of': 'Dead letters of {{job}}',
  // Failing jobs and dead letters.
  'dead.all': 'All dead letters',
  'dead.total': '{{n}} dead letters',
  'dead.total_one': '1 dead letter',
  'dead.retry_all': 'Retry all',
  'dead.retry_all_named': 'Retry all dead letters of {{job}}',
  'dead.discard_all': 'Discard all',
  'dead.discard_all_named': 'Discard all dead letters of {{job}}',
  'dead.selection': 'Actions for the selection',
  'dead.title': 'Dead letters',
  'dead.under': 'Runs that failed after all retries',
  'dead.none': 'No dead letters',
  'dead.none_hint': 'Runs that failed on their last attempt appear here. Retry or discard them.',
  'dead.replay': 'Retry',
  'dead.replay_named': 'Retry run {{id}} of {{job}}',
  'dead.replay_title': 'Retry the run of {{job}}?',
  'dead.replay_explain':
    'The run has used {{n}} attempts. It gets one more and leaves this list; if that attempt fails, the run returns here.',
  'dead.replay_explain_one':
    'The run has used 1 attempt. It gets one more and leaves this list; if that attempt fails, the run returns here.',
  'dead.discard': 'Discard',
  'dead.discard_named': 'Discard run {{id}} of {{job}}',
  'dead.discard_title': 'Discard the dead letter of {{job}}?',
  'dead.discard_explain':
    'The dead letter leaves this list. The run stays unchanged in the history, after {{n}} attempts.',
  'dead.discard_explain_one':
    'The dead letter leaves this list. The run stays unchanged in the history, after 1 attempt.',
  'dead.discarded': 'Dead letter of {{job}} discarded',
} as const;
addEnglish(en);
