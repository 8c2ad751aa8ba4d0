import { addEnglish } from '../../i18n';

export const en = {
  'shards.part_of': 'Run of all shards; this is shard {{index}} of {{total}}',
  'shards.title': 'Shards',
  'shards.table': 'Table of shards',
  'shards.cells': 'Shards by state; the table has the same content',
  'shards.cell': 'Shard {{index}}: {{state}}',
  'shards.cell_on': 'Shard {{index}}: {{state}}, {{executor}}',
  'shards.filter': 'Show shards by state',
  'shards.all': 'All',
  'shards.count': '{{state}} {{n}}',
  'shards.index': 'Shard',
  'shards.attempt': 'Attempt',
  'shards.started': 'Started',
  'shards.duration': 'Duration',
  'shards.reason': 'Reason',
  'shards.more': 'Show all {{n}} shards',
  'shards.none': 'No shard is in this state.',
  'shards.retry_failed': 'Retry the failed shards',
  'shards.retry_all': 'Retry all shards',
  'shards.all_title': 'Retry all {{n}} shards?',
  'shards.all_title_one': 'Retry the shard?',
  'shards.all_explain': 'Those that have completed run again as well.',
  'shards.anyway': 'Retry although processes of these shards may still be running?',
} as const;
addEnglish(en);
