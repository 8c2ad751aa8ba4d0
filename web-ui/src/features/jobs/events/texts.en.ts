import { addEnglish } from '../../../i18n';

export const en = {
  'trigger.type': 'Event type',
  'trigger.type_n': 'Event type of schedule {{n}}',
  'trigger.type_hint': 'A type, or its beginning and a star. A star alone means every type.',
  'trigger.source': 'Event source',
  'trigger.source_n': 'Event source of schedule {{n}}',
  'trigger.source_hint': 'Leave empty for any source.',
  'trigger.filter': 'Filter',
  'trigger.filter_n': 'Filter of schedule {{n}}',
  'trigger.filter_hint': 'A condition on the event. Leave empty for every event of this type.',
  'trigger.parameters': 'Parameters from the event',
  'trigger.parameters_n': 'Parameters of schedule {{n}}',
  'trigger.parameters_hint':
    'JSON object. A value may take event.id, event.data.NAME and others in double braces.',
  'trigger.test': 'Test with an event',
  'trigger.test_n': 'Test schedule {{n}} with an event',
} as const;
addEnglish(en);
