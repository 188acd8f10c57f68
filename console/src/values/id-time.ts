/**
 * Where a list in the order of ids begins for whoever wants a time: ids of files begin with the millisecond in which they
 * were made (UUIDv7), so a time is a place in the list, and the cursor of one can be made of it.
 */
export const cursorAtTime = (order: 'asc' | 'desc', time: string): string => {
  const milliseconds = Math.max(0, Date.parse(time)).toString(16).padStart(12, '0')
  const first = `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7000-8000-000000000000`
  return order === 'desc' ? `desc.${first}` : first
}
