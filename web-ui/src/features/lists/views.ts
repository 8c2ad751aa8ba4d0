// Saved views of a list: names for filters. A view is what the URL holds after its path, and opening it is
// following a link, so that the URL always wins. Pure.
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

// A view of the same name becomes this one.
export const withView = (views: readonly View[], view: View): View[] =>
  byName([...views.filter((one) => one.name !== view.name), view]);

export const withoutView = (views: readonly View[], name: string): View[] =>
  views.filter((one) => one.name !== name);

export const renamed = (views: readonly View[], from: string, to: string): View[] =>
  byName(views.map((one) => (one.name === from ? { ...one, name: to } : one)));

// The order of a URL's parameters means nothing.
const canonical = (search: string) => {
  const params = new URLSearchParams(search);
  params.sort();
  return params.toString();
};
export const viewOf = (views: readonly View[], search: string): View | undefined =>
  views.find((one) => canonical(one.search) === canonical(search));
