import { language } from '../words/words.ts'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** A count of bytes for people: binary, three digits at most. */
export const shortBytes = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${new Intl.NumberFormat(language(), { maximumFractionDigits: digits }).format(value)} ${units[unit]}`
}

/** The same, to the byte. */
export const exactBytes = (bytes: number): string => `${new Intl.NumberFormat(language()).format(bytes)} B`

export const exactTime = (iso: string): string =>
  new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'long' }).format(new Date(iso))

const steps = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
  ['year', Number.POSITIVE_INFINITY],
] as const

/** How long ago, or how long until. */
export const relativeTime = (iso: string, nowMs: number): string => {
  let value = (Date.parse(iso) - nowMs) / 1000
  for (const [unit, most] of steps) {
    if (Math.abs(value) < most)
      return new Intl.RelativeTimeFormat(language(), { numeric: 'auto' }).format(Math.round(value), unit)
    value /= most
  }
  return iso
}
