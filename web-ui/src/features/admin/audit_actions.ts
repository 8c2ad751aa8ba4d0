// What the audit has records of, by what it was done to.
export const AUDIT_ACTIONS = [
  'job.create', 'job.replace', 'job.patch', 'job.delete', 'job.pause', 'job.resume', 'job.execute', 'job.cancel', 'job.revert', 'job.apply', 'job.prune',
  'run.cancel', 'run.retry',
  'bulk', 'bulk.cancel',
  'executor.patch', 'executor.enable', 'executor.disable', 'executor.drain', 'executor.join', 'executor.join_token',
  'secret.create', 'secret.update', 'secret.delete', 'secret.rewrap',
  'user.create', 'user.patch', 'user.delete',
  'token.create', 'token.delete',
  'auth.setup_link', 'auth.setup', 'auth.login', 'auth.logout', 'auth.password', 'auth.login_failed', 'auth.refresh_reused',
  'config.change',
  'system.pause', 'system.resume',
  'store.accept',
  'delivery.resend',
  'notify.test',
  'dead_letter.discard',
] as const;
