import { addEnglish } from '../../i18n';

export const en = {
  'events.title': 'Events',
  'events.under': 'Events of the last 72 hours that started something or were refused',
  'events.none': 'No events',
  'events.none_hint':
    'Events that match a schedule of the kind Event appear here with what they started. Those that match none are not stored.',
  'events.type': 'Type',
  'events.type_filter': 'Type, such as order.*',
  'events.source': 'Source',
  'events.id': 'ID',
  'events.subject': 'Subject',
  'events.accepted': 'Accepted',
  'events.outcome': 'Outcome',
  'events.any_outcome': 'Any outcome',
  'events.outcome.started': 'Started',
  'events.outcome.gap': 'No run',
  'events.outcome.refused': 'Refused',
  'events.starts': 'Effect',
  'events.run_of': 'Run of {{job}}',
  'events.more': 'and {{count}} more',
  // The page of a run.
  'events.started_by': 'Started by event',
  'events.effects': 'All it started',
  // The test of an event.
  'events.test': 'Test the event',
  'events.test_all': 'Test an event against all schedules',
  'events.test_event': 'Event (JSON)',
  'events.test_hint': 'Tells what it would start. Nothing is started or stored.',
  'events.not_json': 'Must be a JSON object.',
  'events.no_triggers': 'No schedule of this namespace waits for events.',
  'events.result.matched': 'Matches',
  'events.result.no_match': 'No match',
  'events.result.not_computable': 'No answer',
  'events.result.bad_event': 'Unusable event',
  'events.untrusted': 'from outside',
  'events.untrusted_hint':
    'A text from outside never becomes a part of a command. The run can read it as a parameter in its environment.',
} as const;
addEnglish(en);
