import { addEnglish } from '../../i18n';

export const en = {
  'admin.deliveries': 'Notifications',
  'deliveries.under': 'Notifications about runs: event, recipient and delivery state',
  'deliveries.none': 'No notifications yet',
  'deliveries.none_hint':
    'Once a webhook or mail is configured, Carillon sends notifications about runs that fail, start late, are missed or recover.',
  'deliveries.any_state': 'Any state',
  'deliveries.any_kind': 'Any event',
  'deliveries.kind': 'Event',
  'deliveries.what': 'Event',
  'deliveries.whom': 'Recipient',
  'deliveries.tries': 'Attempts',
  'deliveries.next': 'Next attempt',
  'deliveries.error': 'Last error',
  'deliveries.time': 'Created',
  'deliveries.denied': 'Only administrators can send notifications.',
  'deliveries.resend_named': 'Resend notification {{id}} of {{job}}',
  'deliveries.resent': 'Resending the notification',
  'deliveries.not_resent': 'The notification was not resent',
  'deliveries.test': 'Send a test notification',
  'deliveries.test_explain':
    'Sends one test notification to the webhook and by mail. It does not appear in this list.',
  'deliveries.test_go': 'Send',
  'deliveries.test_again': 'Send again',
  'deliveries.testing': 'Sending…',
  'deliveries.test_result': 'Results',
} as const;
addEnglish(en);
