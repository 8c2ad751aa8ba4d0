// Commands that make a new executor join the cluster. docs/security.md and deploy/ describe them. Pure.
export const PLACES = ['shell', 'systemd', 'container'] as const;
export type Place = (typeof PLACES)[number];

export interface JoinParameters {
  executor: string;
  token: string | null; // null: members and executors use copies of one secret file
  version: string;
  address: string | null; // of a server that needs neither Kafka nor ZooKeeper; null: a cluster with both
}

export const isExecutorId = (text: string) => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text);

interface File {
  name: string;
  setting: string;
  settings: readonly string[];
}

// The settings of this executor. In a cluster with Kafka and ZooKeeper, a file has the settings that all executors have.
function fileOf({ executor, token, address }: JoinParameters, directory: string): File {
  const name = directory + (token === null ? '/join.secret' : '/join-token');
  const id = 'executor.id=' + executor;
  return token === null
    ? { name, setting: 'link.join_secret_file', settings: [id, 'link.join_secret_file=' + name] }
    : {
        name,
        setting: 'link.join_token_file',
        settings: [
          id,
          ...(address === null ? [] : ['link.members=' + address]),
          'link.tls=mutual',
          'link.join_token_file=' + name,
        ],
      };
}

const flags = (file: File) => file.settings.map((one) => `--set "${one}"`).join(' ');
const environment = (file: File) =>
  file.settings
    .map((one) => one.replace(/^[^=]+/, (name) => 'CARILLON_' + name.replaceAll('.', '_').toUpperCase()))
    .join(' ');
const here = (before: string, text: string) => [`${before} <<'END'`, text, 'END'];
// Returns the command that writes a file that only the executor may read.
const written = (joining: JoinParameters, file: string) =>
  joining.token === null ? [] : ['umask 077', ...here(`cat > "${file}"`, joining.token)];

const COMMANDS: Record<Place, (joining: JoinParameters) => string[]> = {
  shell: (joining) => {
    const file = fileOf(joining, '$PWD');
    return [
      ...written(joining, file.name),
      `carillon-executor ${joining.address === null ? '--config executor.yaml ' : ''}--data-dir "$PWD/${joining.executor}" ${flags(file)}`,
    ];
  },
  systemd: (joining) => {
    const file = fileOf(joining, '/etc/carillon');
    const unit = '/etc/systemd/system/carillon-executor.service.d';
    return [
      ...(joining.token === null
        ? []
        : here(`sudo install -m 0600 -o carillon -g carillon /dev/stdin ${file.name}`, joining.token)),
      `sudo mkdir -p ${unit}`,
      ...here(`sudo tee ${unit}/join.conf`, '[Service]\nEnvironment=' + environment(file)),
      // The unit reads this file, which may be empty.
      ...(joining.address === null ? [] : ['sudo touch /etc/carillon/executor.yaml']),
      'sudo systemctl daemon-reload',
      'sudo systemctl enable --now carillon-executor',
    ];
  },
  container: (joining) => {
    const file = fileOf(joining, '/run/secrets');
    const inside = file.name.replace('/run/secrets', '$PWD');
    return [
      ...written(joining, inside),
      `docker run --detach --name ${joining.executor} --hostname ${joining.executor} --restart unless-stopped --cap-drop ALL \\`,
      `  --user "$(id -u):$(id -g)" --volume ${joining.executor}:/var/lib/carillon --volume "${inside}:${file.name}:ro" \\`,
      ...(joining.address === null
        ? [
            '  --volume "$PWD/executor.yaml:/etc/carillon/executor.yaml:ro" --volume "$PWD/zookeeper.digest:/run/secrets/zookeeper.digest:ro" \\',
            `  carillon:${joining.version} run-executor --config /etc/carillon/executor.yaml ${flags(file)}`,
          ]
        : [`  carillon:${joining.version} run-executor ${flags(file)}`]),
    ];
  },
};

export const commandsFor = (place: Place, joining: JoinParameters): string =>
  COMMANDS[place](joining).join('\n') + '\n';
