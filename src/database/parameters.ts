/**
 * What a query may carry. Booleans are stored as 0 and 1, times as text: callers convert, so that both engines agree.
 */
export type Bindable = string | number | bigint | null | Uint8Array

const int64Max = 2n ** 63n

/** The value if both engines store it alike; otherwise an error that names its position. */
export const checkParameter = (value: unknown, index: number): Bindable => {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) return value
      throw new TypeError(`Parameter ${index + 1} is ${value}, which cannot be stored exactly.`)
    case 'bigint':
      if (value >= -int64Max && value < int64Max) return value
      throw new TypeError(`Parameter ${index + 1} does not fit in 64 bits.`)
    default:
      if (value === null || value instanceof Uint8Array) return value
      throw new TypeError(`Parameter ${index + 1} is ${described(value)}; bind text, numbers, bytes or null.`)
  }
}

const described = (value: unknown): string =>
  typeof value === 'object' ? `an object (${value?.constructor.name ?? 'no class'})` : `${String(value)}`
