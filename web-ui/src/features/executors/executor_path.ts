// Returns the path of an executor in the API.
export const executorPath = (id: string) => 'executors/' + encodeURIComponent(id);
