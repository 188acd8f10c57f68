import { type Language, language } from '../words/words.ts'

/** To make a format takes an engine longer than to draw a row: each is made once for a language. */
const inEach = <Format>(make: (of: Language) => Format): (() => Format) => {
  const made = new Map<Language, Format>()
  return () => {
    const now = language()
    const format = made.get(now) ?? make(now)
    made.set(now, format)
    return format
  }
}

const numbersOf = [0, 1, 2].map((maximumFractionDigits) =>
  inEach((of) => new Intl.NumberFormat(of, { maximumFractionDigits })),
)
const wholeNumbers = inEach((of) => new Intl.NumberFormat(of))
const times = inEach((of) => new Intl.DateTimeFormat(of, { dateStyle: 'medium', timeStyle: 'long' }))
const relativeTimes = inEach((of) => new Intl.RelativeTimeFormat(of, { numeric: 'auto' }))

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
  return `${(numbersOf[digits] ?? wholeNumbers)().format(value)} ${units[unit]}`
}

/** The same, to the byte. */
export const exactBytes = (bytes: number): string => `${wholeNumbers().format(bytes)} B`

export const exactTime = (iso: string): string => times().format(new Date(iso))

const lasting = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

const lengths = {
  day: inEach((of) => new Intl.NumberFormat(of, { style: 'unit', unit: 'day', unitDisplay: 'long' })),
  hour: inEach((of) => new Intl.NumberFormat(of, { style: 'unit', unit: 'hour', unitDisplay: 'long' })),
  minute: inEach((of) => new Intl.NumberFormat(of, { style: 'unit', unit: 'minute', unitDisplay: 'long' })),
  second: inEach((of) => new Intl.NumberFormat(of, { style: 'unit', unit: 'second', unitDisplay: 'long' })),
}

/** How long something takes or lasts, in the largest unit that says it whole. */
export const lengthOf = (seconds: number): string => {
  const [unit, each] = lasting.find(([, all]) => seconds > 0 && seconds % all === 0) ?? (['second', 1] as const)
  return lengths[unit]().format(seconds / each)
}

/** Hours as days where they are whole days: how many there are, and of which. */
export const wholeDays = (hours: number): { readonly count: number; readonly unit: 'days' | 'hours' } =>
  hours > 24 && hours % 24 === 0 ? { count: hours / 24, unit: 'days' } : { count: hours, unit: 'hours' }

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
    if (Math.abs(value) < most) return relativeTimes().format(Math.round(value), unit)
    value /= most
  }
  return iso
}
