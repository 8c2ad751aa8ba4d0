// The schedulers whose definitions can be imported.
export const KINDS = ['crontab', 'xxl-job', 'cronjob', 'systemd'] as const;
export type Kind = (typeof KINDS)[number];

// Names of products, which are the same in every language, and commands that print what an import reads.
export const NAMES: Record<Kind, string> = {
  crontab: 'crontab',
  'xxl-job': 'XXL-JOB',
  cronjob: 'Kubernetes CronJob',
  systemd: 'systemd',
};
export const COMMANDS: Record<Kind, string> = {
  crontab: 'crontab -l',
  'xxl-job': 'mysqldump xxl_job xxl_job_info xxl_job_group',
  cronjob: 'kubectl get cronjobs -A -o yaml',
  systemd: 'systemctl cat NAME.timer NAME.service',
};
export const ACCEPTED: Record<Kind, string | undefined> = {
  crontab: undefined,
  'xxl-job': '.sql',
  cronjob: '.yaml,.yml,.json',
  systemd: '.timer,.service',
};
// The settings of one crontab must not apply to the entries of another one.
export const takesSeveral = (kind: Kind) => kind !== 'crontab';
