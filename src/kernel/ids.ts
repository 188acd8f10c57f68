import { freshBytes } from './random.ts'

let lastMs = 0
let counter = 0

/**
 * A UUIDv7 (RFC 9562, section 5.7) in its text form. Ids of one process grow strictly: within a millisecond the 12 bits
 * after the time count up (method 1 of section 6.2), so that "ordered by id" is the order of creation.
 */
export const newId = (epochMs: number): string => {
  const random = freshBytes(10)
  if (epochMs > lastMs) {
    lastMs = epochMs
    counter = (random.readUInt16BE(0) & 0x7ff) >>> 0
  } else if (++counter > 0xfff) {
    lastMs += 1
    counter = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const high = (0x7000 | counter).toString(16)
  const variant = ((random.readUInt16BE(2) & 0x3fff) | 0x8000).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-${high}-${variant}-${random.toString('hex', 4)}`
}

/** The text form of 32 hexadecimal digits. */
export const uuidIn = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** When an id says that it was made, in ms since 1970; null for what is no UUIDv7. */
export const madeAtMs = (id: string): number | null =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)
    ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
    : null
