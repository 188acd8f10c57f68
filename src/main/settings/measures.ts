import { day, GiB, hour, KiB, MiB, minute, second, TiB } from '../../kernel/units.ts'

const sizes: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB,
  MiB,
  GiB,
  TiB,
}

const times: Readonly<Record<string, number>> = { s: second, min: minute, h: hour, d: day }

/** What a number is counted in when it bears no unit of its own. */
interface Measure {
  readonly what: string
  readonly units: Readonly<Record<string, number>>
  readonly unit: number
  readonly least: number
  readonly most: number
  readonly example: string
}

/** Units are told apart by case where that matters to nobody: `10gb` is `10GB`, `kib` is `KiB`. */
const unitOf = (units: Measure['units'], text: string): number | undefined =>
  Object.entries(units).find(([name]) => name.toLowerCase() === text.toLowerCase())?.[1]

/**
 * A whole number with or without a unit, as the number of the smallest one. Throws a RangeError that says how to write
 * it.
 */
const measure = (text: string, { what, units, unit, least, most, example }: Measure): number => {
  const [, digits = '', named = ''] = /^(\d{1,16}) ?([a-z]{0,3})$/i.exec(text) ?? []
  const factor = named === '' ? unit : unitOf(units, named)
  const amount = Number(digits) * (factor ?? Number.NaN)
  if (digits === '' || factor === undefined)
    throw new RangeError(
      `${JSON.stringify(text)} is no ${what}; write a whole number, alone or with one of ${Object.keys(units).join(', ')}, such as ${example}`,
    )
  if (amount < least || amount > most)
    throw new RangeError(`${JSON.stringify(text)} is not from ${shownIn(units, least)} to ${shownIn(units, most)}`)
  return amount
}

/** In the largest unit that it is a whole number of. */
const shownIn = (units: Measure['units'], amount: number): string => {
  const whole = Object.entries(units).filter(([, factor]) => amount > 0 && amount % factor === 0)
  const [name, factor] = whole.toSorted(([, one], [, other]) => other - one)[0] ?? ['', 1]
  return `${amount / factor}${name}`
}

/** A size in bytes, such as `500000000`, `500MB` or `10GiB`. */
export const size =
  (least: number, most: number) =>
  (text: string): number =>
    measure(text, { what: 'size', units: sizes, unit: 1, least, most, example: '500MB or 10GiB' })

/** A time in milliseconds, such as `36h` or `2d`; a number alone counts the unit that the setting's name bears. */
export const time =
  (unit: number, least: number, most: number) =>
  (text: string): number =>
    measure(text, {
      what: 'time',
      units: times,
      unit,
      least: least * unit,
      most: most * unit,
      example: '90s, 36h or 2d',
    })
