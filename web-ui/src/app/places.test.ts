import { describe, expect, it } from 'vitest';
import { PLACES, hasTab } from './places';

describe('a place of the navigation', () => {
  const placeOf = (path: string) => PLACES.filter((place) => hasTab(place, path)).map((place) => place.to);
  it('a place covers the pages of its tabs', () => {
    expect(placeOf('/groups')).toEqual(['/admin']);
    expect(placeOf('/groups/db')).toEqual(['/admin']);
    expect(placeOf('/calendars')).toEqual(['/admin']);
  });
  it('a place covers no other pages', () => {
    expect(placeOf('/jobs')).toEqual([]);
    expect(placeOf('/groupsies')).toEqual([]);
  });
});
