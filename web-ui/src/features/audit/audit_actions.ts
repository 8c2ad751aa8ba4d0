// The actions that the audit log records, grouped by the kind of the object that they change.
const DONE = {
  job: 'create replace patch delete pause resume execute cancel backfill revert apply prune',
  run: 'cancel release retry skip',
  node: 'decide',
  bulk: 'cancel',
  event: 'send',
  backfill: 'pause resume cancel',
  executor: 'patch enable disable drain join join_token',
  group: 'update delete',
  calendar: 'put delete',
  secret: 'create update delete rewrap',
  user: 'create patch delete',
  token: 'create delete',
  auth: 'setup_link setup login logout password login_failed refresh_reused',
  config: 'change',
  system: 'pause resume',
  store: 'accept',
  upgrade: 'finish',
  delivery: 'resend',
  notify: 'test',
  dead_letter: 'discard retry',
};

export const AUDIT_ACTIONS = Object.entries(DONE).flatMap(([to, done]) => [
  ...(to === 'bulk' ? [to] : []),
  ...done.split(' ').map((one) => `${to}.${one}`),
]);
