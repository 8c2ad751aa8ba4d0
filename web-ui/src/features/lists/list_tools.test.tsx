import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { List, show } from '../../../test_support/list';
import { choice, chosenFrom, isShown } from './columns';
import { renamed, viewOf, viewsFrom, withView, withoutView } from './views';

describe('columns', () => {
  const all = [
    { id: 'owner', label: 'Owner', usual: true },
    { id: 'changed', label: 'Changed', usual: false },
  ];
  it('columns follow their defaults except for chosen ones', () => {
    expect(['name', 'owner', 'changed'].map((id) => isShown(all, {}, id))).toEqual([true, true, false]);
    const chosen = choice(all, choice(all, {}, 'owner', false), 'changed', true);
    expect(['name', 'owner', 'changed'].map((id) => isShown(all, chosen, id))).toEqual([true, false, true]);
    expect(choice(all, choice(all, chosen, 'owner', true), 'changed', false)).toEqual({});
  });
  it('columns ignore stored values of another shape', () => {
    for (const stored of [null, 'x', [1], { owner: 'no' }]) expect(chosenFrom(stored)).toEqual({});
  });
  it('the columns panel remembers its boxes and resets them', async () => {
    show(<List />);
    fireEvent.click(await screen.findByRole('button', { name: 'Columns' }));
    const panel = within(screen.getByRole('group', { name: 'Columns' }));
    expect(panel.getByRole<HTMLInputElement>('checkbox', { name: 'Job' }).disabled).toBe(true);
    fireEvent.click(panel.getByRole('checkbox', { name: 'Owner' }));
    fireEvent.click(panel.getByRole('checkbox', { name: 'Changed' }));
    await screen.findByText('changed');
    expect(localStorage.getItem('carillon.columns.job')).toBe('{"owner":false,"changed":true}');
    fireEvent.click(panel.getByRole('button', { name: 'Reset' }));
    await screen.findByText('owner');
    fireEvent.keyDown(panel.getByRole('button', { name: 'Reset' }), { key: 'Escape' });
    await waitFor(() => expect(screen.queryByRole('group', { name: 'Columns' })).toBeNull());
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Columns' }));
  });
});

describe('views', () => {
  const b = { name: 'b', search: '?state=FAILED&job_id=x' };
  it('views are kept by name, in order', () => {
    const two = withView([b], { name: 'a', search: '?q=1' });
    expect(two.map((view) => view.name)).toEqual(['a', 'b']);
    expect(withView(two, { name: 'a', search: '?q=2' })[0]!.search).toBe('?q=2');
    expect(renamed(two, 'a', 'c').map((view) => view.name)).toEqual(['b', 'c']);
    expect(withoutView(two, 'a')).toEqual([b]);
  });
  it('a view is recognised by its search in any order', () => {
    expect(viewOf([b], '?job_id=x&state=FAILED')).toBe(b);
    expect(viewOf([b], '?job_id=x')).toBeUndefined();
  });
  it('views ignore stored values of another shape', () => {
    for (const stored of [null, 'x', {}, [null, 1, { name: 'x' }]]) expect(viewsFrom(stored)).toEqual([]);
  });
  it('the views panel saves, renames to an unused name, and deletes', async () => {
    show(<List />);
    fireEvent.click(await screen.findByRole('button', { name: 'Views' }));
    const panel = within(screen.getByRole('group', { name: 'Saved views' }));
    for (const name of ['One', 'Two']) {
      fireEvent.change(panel.getByLabelText('Save filters as'), { target: { value: name } });
      fireEvent.click(panel.getByRole('button', { name: 'Save view' }));
    }
    expect(panel.getByRole('link', { name: 'One' }).getAttribute('href')).toBe('/jobs?q=job');
    expect(JSON.parse(localStorage.getItem('carillon.views.job.token')!)).toEqual([
      { name: 'One', search: '?q=job' },
      { name: 'Two', search: '?q=job' },
    ]);
    fireEvent.click(panel.getByRole('button', { name: 'Rename Two' }));
    fireEvent.change(panel.getByLabelText('New name'), { target: { value: 'One' } });
    expect(panel.getByText('A view with this name already exists.')).toBeTruthy();
    fireEvent.change(panel.getByLabelText('New name'), { target: { value: 'Third' } });
    fireEvent.click(panel.getByRole('button', { name: 'Rename' }));
    expect(document.activeElement).toBe(panel.getByRole('button', { name: 'Rename Third' }));
    fireEvent.click(panel.getByRole('button', { name: 'Delete One' }));
    expect(document.activeElement).toBe(panel.getByLabelText('Save filters as'));
    expect(panel.getAllByRole('link').map((link) => link.textContent)).toEqual(['Third']);
    expect(screen.getByRole('button', { name: 'View: Third' })).toBeTruthy();
  });
});
