import { platformPartMaxCharacters, platformsMax } from '../../kernel/limits/oci.ts'
import { fieldsOf } from './stored-json.ts'

const part = /^[A-Za-z0-9._-]+$/u
const isPart = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= platformPartMaxCharacters && part.test(value)

/** What clients call a platform, such as `linux/arm/v7`; null for what says none. */
export const platformOf = (value: unknown): string | null => {
  const { os, architecture, variant } = fieldsOf(value)
  if (!isPart(os) || !isPart(architecture)) return null
  return [os, architecture, ...(isPart(variant) ? [variant] : [])].join('/')
}

/** Builders say it of what is no image, such as a list of what went into one. */
const none = 'unknown/unknown'

/** Each once, in their order, at most as many as are told. */
export const platformsAmong = (all: readonly (string | null)[]): string[] =>
  [...new Set(all.flatMap((platform) => (platform === null || platform === none ? [] : platform)))].slice(
    0,
    platformsMax,
  )
