export const runPath = (id: string) => 'runs/' + encodeURIComponent(id);
