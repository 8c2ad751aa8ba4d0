// Panel of the saved views: save, open, rename, delete.
import './texts.en';
import { Link, useRouterState } from '@tanstack/react-router';
import { Bookmark, Check, Pencil, Trash2 } from 'lucide-react';
import { useRef, useState, type FormEvent, type RefObject } from 'react';
import { parseSearch } from '../../lib/search_params';
import { useSession } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { Field } from '../../ui/field';
import type { ListKind } from '../bulk/bulk';
import { DropdownPanel } from './dropdown_panel';
import { keep, kept } from './list_settings';
import { NAME_MAX, VIEWS_MAX, renamed, viewOf, viewsFrom, withView, withoutView, type View } from './views';

// Views are stored for each user separately, because several users may sign in with one browser.
function useViews(kind: ListKind): [View[], (next: View[]) => void] {
  const session = useSession();
  const person = session.state === 'signed_in' ? session.person : null;
  const name = `views.${kind}.${person?.user_id ?? 'token'}`;
  const [at, setAt] = useState({ name, views: viewsFrom(kept(name)) });
  if (at.name !== name) setAt({ name, views: viewsFrom(kept(name)) });
  return [
    at.views,
    (views) => {
      setAt({ name, views });
      keep(name, views);
    },
  ];
}

export function ViewsPanel({ kind }: { kind: ListKind }) {
  const { t } = useTranslation();
  const [views, setViews] = useViews(kind);
  const search = useRouterState({ select: (state) => state.location.searchStr });
  const current = viewOf(views, search);
  const [renaming, setRenaming] = useState<string | null>(null);
  // Name of the view that gets the focus, because it was renamed.
  const [focused, setFocused] = useState('');
  const field = useRef<HTMLInputElement>(null);
  return (
    <DropdownPanel
      label={current ? t('views.current', { name: current.name }) : t('views.button')}
      title={t('views.title')}
      icon={Bookmark}
    >
      {views.length > 0 && (
        <ul className="grid max-h-[40dvh] gap-1 overflow-auto">
          {views.map((view) => (
            <li key={view.name}>
              {renaming === view.name ? (
                <Rename
                  view={view}
                  taken={(name) => views.some((one) => one.name === name)}
                  onEnd={(name) => {
                    if (name) setViews(renamed(views, view.name, name));
                    setRenaming(null);
                    setFocused(name ?? view.name);
                  }}
                />
              ) : (
                <Saved
                  kind={kind}
                  view={view}
                  current={view === current}
                  focused={view.name === focused}
                  onRename={() => setRenaming(view.name)}
                  onDelete={() => {
                    setViews(withoutView(views, view.name));
                    field.current!.focus();
                  }}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <Save field={field} search={search} views={views} onSave={(view) => setViews(withView(views, view))} />
      <p className="text-xs text-muted">{t('views.kept')}</p>
    </DropdownPanel>
  );
}

function Saved(props: {
  kind: ListKind;
  view: View;
  current: boolean;
  focused: boolean;
  onRename: () => void;
  onDelete: () => void;
}) {
  const { t } = useTranslation();
  const { view } = props;
  return (
    <div className="flex items-center gap-1">
      <Link
        to={props.kind === 'job' ? '/jobs' : '/runs'}
        search={parseSearch(view.search)}
        aria-current={props.current ? 'true' : undefined}
        className="link flex min-h-8 min-w-0 flex-1 items-center gap-2"
      >
        <span className="truncate">{view.name}</span>
        {props.current && <Check aria-hidden size={15} className="shrink-0" />}
      </Link>
      <button
        type="button"
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- returns the focus to the button that opened the field
        autoFocus={props.focused}
        className="button button-plain button-icon"
        aria-label={t('views.rename_named', { name: view.name })}
        onClick={props.onRename}
      >
        <Pencil aria-hidden size={15} />
      </button>
      <button
        type="button"
        className="button button-plain button-icon button-danger"
        aria-label={t('views.delete_named', { name: view.name })}
        onClick={props.onDelete}
      >
        <Trash2 aria-hidden size={15} />
      </button>
    </div>
  );
}

function Rename({
  view,
  taken,
  onEnd,
}: {
  view: View;
  taken: (name: string) => boolean;
  onEnd: (name?: string) => void;
}) {
  const { t } = useTranslation();
  const [name, setName] = useState(view.name);
  const to = name.trim();
  const wrong = to !== view.name && taken(to);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (to !== '' && !wrong) onEnd(to);
  };
  return (
    <form className="grid gap-2" onSubmit={submit}>
      <Field label={t('views.new_name')} error={wrong ? t('views.taken') : undefined}>
        <input
          className="input"
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the field replaces the button that was pressed
          autoFocus
          maxLength={NAME_MAX}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <div className="flex gap-2">
        <button type="submit" className="button" disabled={to === '' || wrong}>
          {t('views.rename')}
        </button>
        <button type="button" className="button button-plain" onClick={() => onEnd()}>
          {t('cancel')}
        </button>
      </div>
    </form>
  );
}

function Save({
  field,
  search,
  views,
  onSave,
}: {
  field: RefObject<HTMLInputElement | null>;
  search: string;
  views: readonly View[];
  onSave: (view: View) => void;
}) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const as = name.trim();
  const there = views.some((one) => one.name === as);
  const full = views.length >= VIEWS_MAX && !there;
  const hint =
    search === ''
      ? t('views.no_filter')
      : full
        ? t('views.full', { n: VIEWS_MAX })
        : there
          ? t('views.replaces')
          : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave({ name: as, search });
    setName('');
  };
  return (
    <form className="grid gap-2" onSubmit={submit}>
      <Field label={t('views.name')} hint={hint}>
        <input
          ref={field}
          className="input"
          maxLength={NAME_MAX}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <button type="submit" className="button" disabled={as === '' || search === '' || full}>
        {there ? t('views.replace') : t('views.save')}
      </button>
    </form>
  );
}
