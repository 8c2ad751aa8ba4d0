// Saved views of a list: names for filters. A view is the query part of a URL. Opening a view follows a link,
// so the URL alone decides what is shown. Pure.
export interface View {
  name: string;
  search: string;
}

export const NAME_MAX = 60;
export const VIEWS_MAX = 50;

export function viewsFrom(stored: unknown): View[] {
  if (!Array.isArray(stored)) return [];
  return stored
    .filter((one): one is View => typeof one?.name === 'string' && typeof one?.search === 'string')
    .slice(0, VIEWS_MAX);
}

const byName = (views: View[]) => views.toSorted((a, b) => a.name.localeCompare(b.name));

// Saves a view. A view with the same name is replaced.
export const withView = (views: readonly View[], view: View): View[] =>
  byName([...views.filter((one) => one.name !== view.name), view]);

export const withoutView = (views: readonly View[], name: string): View[] =>
  views.filter((one) => one.name !== name);

export const renamed = (views: readonly View[], from: string, to: string): View[] =>
  byName(views.map((one) => (one.name === from ? { ...one, name: to } : one)));

// Compares two views. The order of the parameters in the URL does not matter.
const canonical = (search: string) => {
  const params = new URLSearchParams(search);
  params.sort();
  return params.toString();
};
export const viewOf = (views: readonly View[], search: string): View | undefined =>
  views.find((one) => canonical(one.search) === canonical(search));
