// An executor's own page, and how another one joins.
export const executors = {
  'executors.drain_title': 'Drain {{name}}?',
  'executors.drain_explain':
    'It starts nothing new; what runs goes on ({{n}} now). Until it is enabled again.',
  'executors.disable_title': 'Disable {{name}}?',
  'executors.disable_explain':
    'It gets no work any more; what runs goes on ({{n}} now). Until it is enabled again.',
  'executors.registered': 'Registered',
  'executors.address': 'Address',
  'executors.settings': 'Settings',
  'executors.filter': 'Filter them',
  'executors.no_runs': 'What it runs appears here.',
  'join.title': 'Add an executor',
  'join.make': 'Show the commands',
  'join.id': 'Id of the new executor',
  'join.id_hint': 'Small letters, digits and -, such as executor-7; no other one has it',
  'join.life': 'It joins within',
  'join.life_hint': 'The token works once, and until then.',
  'join.life_3600': 'An hour',
  'join.life_86400': 'A day',
  'join.life_604800': 'A week',
  'join.commands': 'What {{name}} joins with',
  'join.once': 'Copy it now: the token in it is shown this once. It works once, until',
  'join.secret':
    'The members of this cluster ask executors for a shared secret, not for certificates: the file is the one that link.join_secret_file names on a member. A standalone server takes no other executors than its own.',
  'join.where': 'Where it runs',
  'join.shell': 'Shell',
  'join.systemd': 'systemd',
  'join.container': 'Container',
  'join.typed': 'What is typed on its host',
  'join.needs_shell': 'executor.yaml names Kafka and ZooKeeper of this cluster, as on the other executors.',
  'join.needs_systemd':
    '/etc/carillon/executor.yaml names Kafka and ZooKeeper of this cluster, as on the other executors.',
  'join.needs_container':
    'executor.yaml and the digest of ZooKeeper are those of the other executors; the container has to reach Kafka, ZooKeeper and every member.',
} as const;
