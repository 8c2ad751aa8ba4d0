import { addEnglish } from '../../i18n';

export const en = {
  'auth.password_again': 'Repeat the password',
  'auth.password_differs': 'The passwords do not match.',
  'role.admin': 'Administrator',
  'role.user': 'User',
  'role.read_only': 'Read only',
  'theme.system': 'System',
  'theme.light': 'Light',
  'theme.dark': 'Dark',
  'language.en': 'English',
  'language.zh-CN': 'Simplified Chinese',
  'account.who': 'Profile',
  'account.unknown': 'Not provided by the server.',
  'account.by': 'Signed in with',
  'account.permissions': 'Permissions',
  'account.password': 'Password',
  'account.password_needs_user': 'You are signed in with an API token, which has no password.',
  'account.old_password': 'Current password',
  'account.new_password': 'New password',
  'account.change_password': 'Change password',
  'account.password_changed': 'Password changed',
  'account.password_others': 'All your other sessions were ended.',
  'account.display': 'Preferences',
  'account.display_hint':
    'Language, theme and time format are stored with your user when you sign in with a password. Everything else, and everything when you use an API token, is stored in this browser.',
  'account.zone': 'Local time zone',
  'account.zone_hint': 'Leave empty to use the time zone of this browser',
  'account.zone_unknown': 'This browser does not know this time zone.',
  'account.shared': 'Shared with you',
  'account.shared_none': 'None',
} as const;
addEnglish(en);
