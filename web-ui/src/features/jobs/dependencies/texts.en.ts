import { addEnglish } from '../../../i18n';

export const en = {
  'deps.upstream': 'Upstream jobs',
  'deps.upstream_hint': 'This job starts after these jobs, or waits for their runs.',
  'deps.no_upstream': 'This job does not start after another job.',
  'deps.downstream': 'Downstream jobs',
  'deps.downstream_hint': 'These jobs start after this job, or wait for its runs.',
  'deps.no_downstream': 'No job starts after this job.',
  'deps.used_by': 'Used by workflows',
  'deps.by_nodes': '{{count}} nodes: {{nodes}}',
  'deps.by_nodes_one': 'node {{nodes}}',
  'deps.nodes': 'Jobs of its nodes',
  'deps.waits': 'waits for: {{fires}}',
  'deps.waits_node': 'waits for its node {{node}}: {{fires}}',
  'deps.waits_on': 'waits {{on}}',
  'deps.waits_deleted': 'deleted; the wait ends at its limit',
  'deps.on_success': 'on success',
  'deps.on_failure': 'on failure',
  'deps.on_done': 'on success or failure',
  'deps.deleted': 'deleted; no longer starts this job',
  'deps.hidden': 'Not shown: {{count}} jobs that you may not read.',
  'deps.hidden_one': 'Not shown: 1 job that you may not read.',
} as const;
addEnglish(en);
