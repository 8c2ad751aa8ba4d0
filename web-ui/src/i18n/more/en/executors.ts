// The page of an executor, and the dialog that adds one.
export const executors = {
  'executors.drain_title': 'Drain {{name}}?',
  'executors.drain_explain':
    'The executor accepts no new runs until it is enabled again. Active runs continue ({{n}} now).',
  'executors.disable_title': 'Disable {{name}}?',
  'executors.disable_explain':
    'The executor gets no work until it is enabled again. Active runs continue ({{n}} now).',
  'executors.registered': 'Registered',
  'executors.address': 'Address',
  'executors.settings': 'Settings version',
  'executors.filter': 'Filter runs',
  'executors.no_runs': 'Runs on this executor appear here.',
  'join.title': 'Add an executor',
  'join.make': 'Show the commands',
  'join.id': 'Executor ID',
  'join.id_hint': 'Lower-case letters, digits and -; must be unique',
  'join.life': 'Token valid for',
  'join.life_hint': 'The token works only once.',
  'join.life_3600': '1 hour',
  'join.life_86400': '1 day',
  'join.life_604800': '1 week',
  'join.commands': 'Join {{name}}',
  'join.once': 'Copy the commands now: the token is shown only once. It works once, until',
  'join.secret':
    'This cluster authenticates executors by a shared secret instead of certificates. Use the file that link.join_secret_file names on a member. A standalone server accepts no executors besides its own.',
  'join.where': 'Environment',
  'join.shell': 'Shell',
  'join.systemd': 'systemd',
  'join.container': 'Container',
  'join.typed': 'Commands to run on the host',
  'join.needs_shell':
    'executor.yaml must contain the Kafka and ZooKeeper addresses of this cluster, as on the other executors.',
  'join.needs_systemd':
    '/etc/carillon/executor.yaml must contain the Kafka and ZooKeeper addresses of this cluster, as on the other executors.',
  'join.needs_container':
    'Use the executor.yaml and the ZooKeeper digest of the other executors. The container must be able to reach Kafka, ZooKeeper and every member.',
} as const;
