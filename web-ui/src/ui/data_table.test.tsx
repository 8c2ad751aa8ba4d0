import { fireEvent, render, screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { DataTable, nextSort, type Sorting } from './data_table';

describe('a header that sorts', () => {
  const columns = [
    { id: 'name', header: 'Name', sort: 'name', cell: () => '' },
    { id: 'state', header: 'State', cell: () => '' },
  ];
  const table = (sorting: Sorting) =>
    render(<DataTable label="Jobs" columns={columns} rows={[]} rowId={() => ''} sorting={sorting} />);
  it('a sort header cycles through ascending, descending and default', () => {
    const onSort = () => {};
    expect(nextSort({ by: undefined, onSort }, 'name')).toBe('name');
    expect(nextSort({ by: 'name', onSort }, 'name')).toBe('-name');
    expect(nextSort({ by: '-name', onSort }, 'name')).toBeUndefined();
    expect(nextSort({ by: '-update_time', onSort }, 'name')).toBe('name');
    expect(nextSort({ by: undefined, usual: '-fire_time', onSort }, 'fire_time')).toBe('fire_time');
    expect(nextSort({ by: 'fire_time', usual: '-fire_time', onSort }, 'fire_time')).toBeUndefined();
  });
  it('a sort header announces its order', () => {
    const asked: unknown[] = [];
    table({ by: '-name', onSort: (by) => asked.push(by) });
    const name = screen.getByRole('columnheader', { name: 'Name' });
    expect(name.getAttribute('aria-sort')).toBe('descending');
    expect(within(screen.getByRole('columnheader', { name: 'State' })).queryByRole('button')).toBeNull();
    fireEvent.click(within(name).getByRole('button', { name: 'Name' }));
    expect(asked).toEqual([undefined]);
  });
  it('a sort header announces nothing when the list is sorted otherwise', () => {
    table({ by: undefined, onSort: () => {} });
    expect(screen.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBeNull();
  });
});
