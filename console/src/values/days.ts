const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text)

/** Where a day begins at this browser, as the service is asked; nothing for what is no day. */
export const beginningOf = (day: string): string | undefined => atMidnight(day, 0)

/** Where it ends. */
export const endOf = (day: string): string | undefined => atMidnight(day, 1)

const atMidnight = (day: string, later: number): string | undefined => {
  if (!isDay(day)) return undefined
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + later).toISOString()
}
