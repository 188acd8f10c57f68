export type Fields = Readonly<Record<string, unknown>>

const none: Fields = Object.freeze({})

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of a JSON object; none of anything else. */
export const objectOf = (value: unknown): Fields => (isObject(value) ? value : none)

/** Whether the object says something of its own under that name. */
export const hasOf = (fields: Fields, name: string): boolean => Object.hasOwn(fields, name)
